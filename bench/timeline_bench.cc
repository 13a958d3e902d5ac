#include "instructions.h"
#include "timeline/chrome_trace.h"
#include "timeline/timeline.h"

namespace sextant::bench {
namespace {

using timeline::Timeline;

Timeline filled(std::int64_t spans) {
  Timeline step;
  step.reserve(static_cast<std::size_t>(spans));
  const auto gemm = step.label({timeline::SpanKind::kCompute, "gemm", {}, Flops(1e12)});
  const auto reduce = step.label({timeline::SpanKind::kCommunication, "all_reduce", 64_MiB, {}});
  for (std::int64_t i = 0; i < spans; ++i) {
    const auto lane = step.lane({i % 64}, {i % 2});
    step.add(lane, i % 2 == 0 ? gemm : reduce, i * 1000, 900);
  }
  return step;
}

void fill(benchmark::State& state) {
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(filled(state.range(0)));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(fill)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void export_chrome(benchmark::State& state) {
  const Timeline step = filled(state.range(0));
  std::size_t bytes = 0;
  const Instructions instructions(state);
  for (auto _ : state) {
    timeline::write_chrome_trace(step, [&](std::string_view piece) { bytes += piece.size(); });
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
BENCHMARK(export_chrome)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sextant::bench
