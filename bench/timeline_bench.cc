#include <malloc.h>

#include "instructions.h"
#include "timeline/chrome_trace.h"
#include "timeline/launches.h"
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

// A measured step: calls on the host and the kernels they start, one in eight of these a
// collective; in the order of time, lanes mixed, as profiles come.
Timeline measured(std::int64_t spans) {
  using timeline::CorrelationId;
  constexpr std::int64_t kRanks = 8;
  Timeline step;
  step.reserve(static_cast<std::size_t>(spans), static_cast<std::size_t>(spans));
  const auto call = step.label({timeline::SpanKind::kHost, "cudaLaunchKernel", {}, {}});
  const auto gemm = step.label({timeline::SpanKind::kCompute, "gemm", {}, {}});
  const auto reduce =
      step.label({timeline::SpanKind::kCommunication,
                  "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                  64_MiB,
                  {},
                  timeline::Collective{.op = CollectiveOp::kAllReduce,
                                       .element = timeline::ElementType::kBfloat16,
                                       .group = step.group({.name = "0", .size = kRanks})}});
  for (std::int64_t i = 0; i < spans / 2; ++i) {
    const RankId rank{i % kRanks};
    const CorrelationId correlation{i / kRanks};
    const std::int64_t start = i / kRanks * 1000;
    step.add(step.lane(rank, {100}), {.label = call, .correlation = correlation}, start, 500);
    if (i % 8 == 0) {
      step.add(step.lane(rank, {20}),
               {.label = reduce,
                .correlation = correlation,
                .sequence = timeline::SequenceNumber{i / 8}},
               start + 700, 900);
    } else {
      step.add(step.lane(rank, {7}), {.label = gemm, .correlation = correlation}, start + 700, 900);
    }
  }
  return step;
}

std::size_t heap_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

// Bytes: of the heap, by the allocator's own account; and what the Timeline says.
void read_and_sort(benchmark::State& state) {
  const auto spans = static_cast<double>(state.range(0));
  for (auto _ : state) {
    const std::size_t before = heap_bytes();
    Timeline step = measured(state.range(0));
    step.sort();
    state.counters["heap_bytes_a_span"] = static_cast<double>(heap_bytes() - before) / spans;
    state.counters["bytes_a_span"] = step.memory() / 1_B / spans;
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(read_and_sort)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond);

void find_launches(benchmark::State& state) {
  Timeline step = measured(state.range(0));
  step.sort();
  for (auto _ : state) {
    benchmark::DoNotOptimize(timeline::launches(step));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(find_launches)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

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
