// What a search pays for one layout: the whole estimate of a step, time and memory.
#include <array>
#include <vector>

#include "describe/cluster/load_cluster.h"
#include "instructions.h"
#include "layout_grid.h"
#include "machine/machine.h"
#include "step/estimate.h"
#include "step/search.h"

namespace sextant::bench {
namespace {

using describe::Layout;

machine::StepMachine machine_of(const describe::Job& job) {
  return *machine::step_machine(job, describe::DataStore());
}

// How data parallelism keeps its states, and what runs beside what: nothing of that changes the
// work of a microbatch.
struct States {
  std::vector<describe::Overlap> overlap;
  describe::Storage gradients = describe::Storage::kFp32;
};

// With one, two or four chunks a rank, in 16 or 8 bits, and each of `states`.
std::vector<Layout> variants(Layout layout, const describe::Model& model,
                             const std::vector<States>& states) {
  std::vector<Layout> list;
  for (const std::int64_t vpp : {1, 2, 4}) {
    layout.vpp = vpp;
    layout.schedule = vpp > 1 ? describe::Schedule::kInterleaved1f1b : describe::Schedule::k1f1b;
    layout.split = describe::plausible_split(model.layer_count(), layout.stages());
    for (const auto precision : {describe::Precision::kBf16, describe::Precision::kFp8}) {
      layout.precision = precision;
      for (const States& kept : states) {
        layout.overlap = kept.overlap;
        layout.gradients = kept.gradients;
        list.push_back(layout);
      }
    }
  }
  return list;
}

// layout_grid()'s choices and their variants, those that are legal.
LayoutGrid step_grid(const char* model, const std::vector<States>& states) {
  const LayoutGrid base = layout_grid(model);
  LayoutGrid grid{base.job, {}};
  grid.job.cluster = *describe::load_cluster("1024xh100-sxm", describe::DataStore());
  for (const Layout& layout : base.layouts) {
    for (const Layout& next : variants(layout, grid.job.model, states)) {
      grid.job.layout = next;
      if (describe::check_rules(grid.job).empty()) {
        grid.layouts.push_back(next);
      }
    }
  }
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same order every time
  std::shuffle(grid.layouts.begin(), grid.layouts.end(), random);
  return grid;
}

std::vector<States> any_states() {
  using describe::Overlap;
  const std::vector<Overlap> both{Overlap::kGradReduce, Overlap::kParamGather};
  return {{{}, describe::Storage::kFp32},
          {{}, describe::Storage::kBf16},
          {both, describe::Storage::kFp32},
          {both, describe::Storage::kBf16}};
}

// An iteration is a search from nothing: every layout of the grid once, in random order, nothing
// known before.
void search(benchmark::State& state, const LayoutGrid& grid) {
  const machine::StepMachine machine = machine_of(grid.job);
  state.counters["layouts"] = static_cast<double>(grid.layouts.size());
  double fitting = 0.0;
  const Instructions instructions(state);
  for (auto _ : state) {
    step::StepSearch search(grid.job, machine.model, machine.memory);
    fitting = 0.0;
    for (const Layout& layout : grid.layouts) {
      fitting += search.estimate(layout).fits ? 1.0 : 0.0;
    }
  }
  state.counters["fitting"] = fitting;
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(grid.layouts.size()));
}

void search_of_a_grid(benchmark::State& state, const char* model) {
  search(state, step_grid(model, any_states()));
}
BENCHMARK_CAPTURE(search_of_a_grid, llama_70b, "llama-3.1-70b")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search_of_a_grid, deepseek_v3, "deepseek-v3")->Unit(benchmark::kMillisecond);

// The same where but two layouts (with and without ZeRO-1) share the passes of their microbatches.
void search_of_passes(benchmark::State& state, const char* model) {
  search(state, step_grid(model, {States{}}));
}
BENCHMARK_CAPTURE(search_of_passes, llama_70b, "llama-3.1-70b")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search_of_passes, deepseek_v3, "deepseek-v3")->Unit(benchmark::kMillisecond);

// One layout as a command asks for it.
void one_estimate(benchmark::State& state, const char* model) {
  const LayoutGrid grid = step_grid(model, {States{}});
  const machine::StepMachine machine = machine_of(grid.job);
  describe::Job job = grid.job;
  std::size_t at = 0;
  const Instructions instructions(state);
  for (auto _ : state) {
    job.layout = grid.layouts[at];
    benchmark::DoNotOptimize(step::estimate_step(job, machine.model));
    at = at + 1 == grid.layouts.size() ? 0 : at + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(one_estimate, llama_70b, "llama-3.1-70b");
BENCHMARK_CAPTURE(one_estimate, deepseek_v3, "deepseek-v3");

}  // namespace
}  // namespace sextant::bench
