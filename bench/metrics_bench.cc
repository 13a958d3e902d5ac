#include "instructions.h"
#include "metrics/summary.h"
#include "timeline/recording.h"

namespace sextant::bench {
namespace {

// Steps of a rank: calls on a thread inside operators, kernels on a stream, one in sixteen a
// collective on another, and a wait of the host at the end of each step.
timeline::Recording recorded(std::int64_t spans, std::int64_t calls_in_step) {
  using timeline::CorrelationId;
  using timeline::SpanKind;
  constexpr std::int64_t kEvery = 5'000;  // ns from one call to the next
  timeline::Recording made;
  timeline::Timeline& step = made.timeline;
  step.reserve(static_cast<std::size_t>(spans), static_cast<std::size_t>(spans));
  const auto thread = step.lane({}, {100}, "", timeline::Place::kHost);
  const auto main = step.lane({}, {7});
  const auto side = step.lane({}, {20});
  const auto call = step.label({SpanKind::kHost, "cudaLaunchKernel", {}, {}});
  const auto wait = step.label({SpanKind::kHost, "cudaDeviceSynchronize", {}, {}});
  const auto linear = step.label({SpanKind::kHost, "aten::linear", {}, {}});
  const auto gemm = step.label({SpanKind::kCompute, "gemm", {}, Flops(1e9)});
  const auto reduce = step.label({SpanKind::kCommunication, "ncclDevKernel_AllReduce", 1_MiB, {}});
  for (std::int64_t i = 0; i < spans / 3; ++i) {
    const std::int64_t at = i * kEvery;
    const CorrelationId correlation{i};
    step.add(thread, linear, at, 4'500);
    step.add(thread, {.label = call, .correlation = correlation}, at + 500, 3'000);
    const bool is_reduce = i % 16 == 0;
    step.add(is_reduce ? side : main,
             {.label = is_reduce ? reduce : gemm, .correlation = correlation}, at + 4'000, 4'800);
    if (i % calls_in_step == calls_in_step - 1) {
      step.add(thread, wait, at + 4'600, 300);
      made.steps.push_back({{}, i / calls_in_step, at - (calls_in_step - 1) * kEvery, at + kEvery});
    }
  }
  step.sort();
  return made;
}

// Of so many spans, in steps of so many calls: 125 steps cost what five do.
void measure_recording(benchmark::State& state) {
  const timeline::Recording recording = recorded(state.range(0), state.range(1));
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(metrics::measure(recording));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(measure_recording)
    ->Args({3'000'000, 8'000})
    ->Args({3'000'000, 200'000})
    ->Unit(benchmark::kMillisecond);

void summarize_recording(benchmark::State& state) {
  const timeline::Recording recording = recorded(state.range(0), 8'000);
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(metrics::summarize(recording));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(summarize_recording)->Arg(3'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sextant::bench
