// What a pipeline costs to lay out, to simulate, to draw, and to work out by formula.
#include <vector>

#include "instructions.h"
#include "schedule/closed_form.h"
#include "schedule/draw.h"

namespace sextant::bench {
namespace {

using describe::Schedule;

// pp 16 × 512 microbatches × vpp 4: 65,536 actions.
constexpr schedule::ScheduleShape kLarge{Schedule::kInterleaved1f1b, 16, 4, 512};
// What a search meets often.
constexpr schedule::ScheduleShape kUsual{Schedule::kInterleaved1f1b, 8, 2, 64};

struct Pipeline {
  explicit Pipeline(const schedule::ScheduleShape& shape)
      : table(*schedule::compiled(*schedule::action_table(shape))),
        stages(static_cast<std::size_t>(shape.pp * shape.vpp),
               schedule::split_costs(1_ms, 1.1_ms, 0.9_ms)),
        transfers(stages.size() - 1, 50_us) {}
  [[nodiscard]] schedule::PipelineCosts costs() const {
    return {.stages = stages,
            .forward_transfer = transfers,
            .backward_transfer = transfers,
            .transfers = schedule::TransferMode::kOverlapped,
            .overlap = 1.0,
            .microbatch_scale = {}};
  }
  schedule::CompiledTable table;
  std::vector<schedule::StageCosts> stages;
  std::vector<Seconds> transfers;
};

void lay_out(benchmark::State& state, const schedule::ScheduleShape& shape) {
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(schedule::compiled(*schedule::action_table(shape)));
  }
}
BENCHMARK_CAPTURE(lay_out, large, kLarge)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lay_out, usual, kUsual)->Unit(benchmark::kMicrosecond);

void simulation(benchmark::State& state, const schedule::ScheduleShape& shape) {
  const Pipeline pipeline(shape);
  schedule::Workspace work;
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(schedule::simulate(pipeline.table, pipeline.costs(), work).makespan);
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(pipeline.table.steps.size()));
}
BENCHMARK_CAPTURE(simulation, large, kLarge)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(simulation, usual, kUsual)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(simulation, dualpipe, schedule::ScheduleShape{Schedule::kDualPipe, 16, 1, 128})
    ->Unit(benchmark::kMicrosecond);

// From the shape to the Timeline: the time that a user waits.
void whole_timeline(benchmark::State& state) {
  const Pipeline pipeline(kLarge);
  const Instructions instructions(state);
  for (auto _ : state) {
    const schedule::CompiledTable table = *schedule::compiled(*schedule::action_table(kLarge));
    schedule::Workspace work;
    benchmark::DoNotOptimize(schedule::simulate(table, pipeline.costs(), work).makespan);
    benchmark::DoNotOptimize(schedule::timeline_of(table, pipeline.costs(), work));
  }
}
BENCHMARK(whole_timeline)->Unit(benchmark::kMillisecond);

void uneven_1f1b_formula(benchmark::State& state) {
  const Pipeline pipeline({Schedule::k1f1b, 16, 1, 128});
  schedule::PipelineCosts costs = pipeline.costs();
  costs.transfers = schedule::TransferMode::kBlocking;
  std::vector<double> scratch;
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(schedule::one_f_one_b_makespan(costs, 128, scratch));
  }
}
BENCHMARK(uneven_1f1b_formula);

void interleaved_bound(benchmark::State& state) {
  const Pipeline pipeline(kUsual);
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(schedule::interleaved_lower_bound(kUsual, pipeline.costs()));
  }
}
BENCHMARK(interleaved_bound);

}  // namespace
}  // namespace sextant::bench
