// What a pipeline costs to lay out, to simulate, to draw, and to work out by formula.
#include <vector>

#include "instructions.h"
#include "schedule/closed_form.h"
#include "schedule/draw.h"

namespace sextant::bench {
namespace {

using namespace schedule;  // NOLINT(google-build-using-namespace)
using describe::Schedule;

// pp 16 × 512 microbatches × vpp 4: 65,536 actions.
constexpr ScheduleShape kLarge{Schedule::kInterleaved1f1b, 16, 4, 512};
// What a search meets often.
constexpr ScheduleShape kUsual{Schedule::kInterleaved1f1b, 8, 2, 64};

struct Pipeline {
  explicit Pipeline(const ScheduleShape& shape)
      : table(*compiled(*action_table(shape))),
        stages(static_cast<std::size_t>(shape.pp * shape.vpp), split_costs(1_ms, 1.1_ms, 0.9_ms)),
        transfers(stages.size() - 1, 50_us) {}
  [[nodiscard]] PipelineCosts costs() const {
    return {.stages = stages,
            .forward_transfer = transfers,
            .backward_transfer = transfers,
            .transfers = TransferMode::kOverlapped,
            .overlap = 1.0,
            .microbatch_scale = {}};
  }
  CompiledTable table;
  std::vector<StageCosts> stages;
  std::vector<Seconds> transfers;
};

void lay_out(benchmark::State& state, const ScheduleShape& shape) {
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(compiled(*action_table(shape)));
  }
}
BENCHMARK_CAPTURE(lay_out, large, kLarge)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lay_out, usual, kUsual)->Unit(benchmark::kMicrosecond);

void simulation(benchmark::State& state, const ScheduleShape& shape) {
  const Pipeline pipeline(shape);
  Workspace work;
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulate(pipeline.table, pipeline.costs(), work).makespan);
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(pipeline.table.steps.size()));
}
BENCHMARK_CAPTURE(simulation, large, kLarge)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(simulation, usual, kUsual)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(simulation, dualpipe, ScheduleShape{Schedule::kDualPipe, 16, 1, 128})
    ->Unit(benchmark::kMicrosecond);

// From the shape to the Timeline: the time that a user waits.
void whole_timeline(benchmark::State& state) {
  const Pipeline pipeline(kLarge);
  const Instructions instructions(state);
  for (auto _ : state) {
    const CompiledTable table = *compiled(*action_table(kLarge));
    Workspace work;
    benchmark::DoNotOptimize(simulate(table, pipeline.costs(), work).makespan);
    benchmark::DoNotOptimize(timeline_of(table, pipeline.costs(), work));
  }
}
BENCHMARK(whole_timeline)->Unit(benchmark::kMillisecond);

void uneven_1f1b_formula(benchmark::State& state) {
  const Pipeline pipeline({Schedule::k1f1b, 16, 1, 128});
  PipelineCosts costs = pipeline.costs();
  costs.transfers = TransferMode::kBlocking;
  std::vector<double> scratch;
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(one_f_one_b_makespan(costs, 128, scratch));
  }
}
BENCHMARK(uneven_1f1b_formula);

void interleaved_bound(benchmark::State& state) {
  const Pipeline pipeline(kUsual);
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(interleaved_lower_bound(kUsual, pipeline.costs()));
  }
}
BENCHMARK(interleaved_bound);

}  // namespace
}  // namespace sextant::bench
