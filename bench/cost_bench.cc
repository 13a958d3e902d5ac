#include <algorithm>
#include <random>
#include <vector>

#include "cost/memory/memory.h"
#include "describe/layout/pipeline_split.h"
#include "describe/layout/rules.h"
#include "describe/model/load_model.h"
#include "instructions.h"

namespace sextant::bench {
namespace {

using describe::Layout;

// A job on 1,024 devices and every legal layout of a small grid, in random order.
struct Grid {
  describe::Job job;
  std::vector<Layout> layouts;
};

Grid grid_of(const char* model) {
  Grid grid;
  grid.job.model = *describe::load_model(model, describe::DataStore());
  grid.job.cluster.devices = 1024;
  grid.job.sequences.length = 8192;
  grid.job.global_batch = 1024;
  for (auto& peak : grid.job.cluster.device.peaks) {
    peak = describe::Sourced<FlopsPerSecond>{};
  }
  const bool experts = describe::has_experts(grid.job.model);
  for (const std::int64_t tp : {1, 2, 4, 8}) {
    for (const std::int64_t pp : {1, 2, 4, 8, 16}) {
      for (const std::int64_t ep : {1, 8, 32}) {
        for (const std::int64_t mbs : {1, 2, 4}) {
          for (const auto recompute : {describe::Recompute::kNone, describe::Recompute::kSelective,
                                       describe::Recompute::kFull}) {
            Layout& layout = grid.job.layout;
            layout = Layout{};
            layout.tp = tp;
            layout.sp = tp > 1;
            layout.pp = pp;
            layout.ep = experts ? ep : 1;
            layout.mbs = mbs;
            layout.zero = describe::Zero::kOptimizer;
            layout.recompute.granularity = recompute;
            layout.split = describe::plausible_split(grid.job.model.layer_count(), pp);
            if (describe::check_rules(grid.job).empty()) {
              grid.layouts.push_back(layout);
            }
          }
        }
      }
    }
  }
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same order every time
  std::shuffle(grid.layouts.begin(), grid.layouts.end(), random);
  return grid;
}

void peak_memory(benchmark::State& state, const char* model) {
  const Grid grid = grid_of(model);
  cost::MemoryModel memory(
      grid.job, *describe::memory_facts(describe::DataStore(), describe::Framework::kMegatronCore));
  state.counters["layouts"] = static_cast<double>(grid.layouts.size());
  std::size_t at = 0;
  const Instructions instructions(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(memory.fullest(grid.layouts[at++ % grid.layouts.size()]));
  }
}
BENCHMARK_CAPTURE(peak_memory, llama_70b, "llama-3.1-70b");
BENCHMARK_CAPTURE(peak_memory, deepseek_v3, "deepseek-v3");

}  // namespace
}  // namespace sextant::bench
