#include <algorithm>
#include <random>
#include <vector>

#include "describe/layout/pipeline_split.h"
#include "describe/layout/rules.h"
#include "describe/model/load_model.h"
#include "instructions.h"
#include "workload/operators.h"

namespace sextant::bench {
namespace {

using describe::Layout;
using workload::Shard;
using workload::Stage;

// A job on 1,024 devices, and every legal layout of a small grid in random order with what a search
// has at hand for each.
struct Candidate {
  Layout layout;
  Shard shard;
  std::vector<Stage> stages;
};

struct Grid {
  describe::Job job;
  std::vector<Candidate> candidates;
};

describe::Job job_of(const char* model) {
  describe::Job job;
  job.model = *describe::load_model(model, describe::DataStore());
  job.cluster.devices = 1024;
  job.cluster.device.peaks[static_cast<std::size_t>(describe::DType::kBf16)] =
      describe::Sourced<FlopsPerSecond>{};
  job.sequences.length = 8192;
  job.global_batch = 1024;
  return job;
}

void add_if_legal(Grid& grid, const Layout& layout) {
  grid.job.layout = layout;
  if (describe::check_rules(grid.job).empty()) {
    grid.candidates.push_back(
        {layout, workload::shard_of(grid.job, layout), workload::stages_of(grid.job, layout)});
  }
}

void add_layouts(Grid& grid, Layout layout) {
  for (const std::int64_t mbs : {1, 2, 4}) {
    layout.mbs = mbs;
    for (const auto recompute : {describe::Recompute::kNone, describe::Recompute::kSelective,
                                 describe::Recompute::kFull}) {
      layout.recompute.granularity = recompute;
      add_if_legal(grid, layout);
    }
  }
}

Layout layout_of(const describe::Model& model, std::int64_t tp, std::int64_t pp, std::int64_t cp) {
  Layout layout;
  layout.tp = tp;
  layout.sp = tp > 1;
  layout.pp = pp;
  layout.cp = cp;
  layout.zero = describe::Zero::kOptimizer;
  layout.split = describe::plausible_split(model.layer_count(), pp);
  return layout;
}

Grid grid_of(const char* model) {
  Grid grid{job_of(model), {}};
  const bool experts = describe::has_experts(grid.job.model);
  for (const std::int64_t tp : {1, 2, 4, 8}) {
    for (const std::int64_t pp : {1, 2, 4, 8, 16}) {
      for (const std::int64_t cp : {1, 2, 4}) {
        Layout layout = layout_of(grid.job.model, tp, pp, cp);
        add_layouts(grid, layout);
        if (experts) {
          layout.ep = 32;
          add_layouts(grid, layout);
        }
      }
    }
  }
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same order every time
  std::shuffle(grid.candidates.begin(), grid.candidates.end(), random);
  return grid;
}

void run_list(benchmark::State& state, const char* model) {
  const Grid grid = grid_of(model);
  std::size_t at = 0;
  const Instructions instructions(state);
  for (auto _ : state) {
    const Candidate& candidate = grid.candidates[at++ % grid.candidates.size()];
    benchmark::DoNotOptimize(workload::stage_operators(grid.job, candidate.layout,
                                                       candidate.stages.back(), candidate.shard));
  }
}

// Every kind of layer once, then the first and the last stage.
void run_totals(benchmark::State& state, const char* model) {
  const Grid grid = grid_of(model);
  state.counters["layouts"] = static_cast<double>(grid.candidates.size());
  workload::LayoutWork work;
  std::size_t at = 0;
  const Instructions instructions(state);
  for (auto _ : state) {
    const Candidate& candidate = grid.candidates[at++ % grid.candidates.size()];
    work.assign(grid.job, candidate.layout, candidate.shard);
    benchmark::DoNotOptimize(work.stage(grid.job, candidate.layout, candidate.stages.front()));
    benchmark::DoNotOptimize(work.stage(grid.job, candidate.layout, candidate.stages.back()));
  }
}

void run_update(benchmark::State& state, const char* model) {
  const Grid grid = grid_of(model);
  std::size_t at = 0;
  const Instructions instructions(state);
  for (auto _ : state) {
    const Candidate& candidate = grid.candidates[at++ % grid.candidates.size()];
    benchmark::DoNotOptimize(workload::update_totals(
        grid.job, candidate.layout, std::span(&candidate.stages.back(), 1), candidate.shard));
  }
}

BENCHMARK_CAPTURE(run_list, llama_70b, "llama-3.1-70b");
BENCHMARK_CAPTURE(run_list, deepseek_v3, "deepseek-v3");
BENCHMARK_CAPTURE(run_totals, llama_70b, "llama-3.1-70b");
BENCHMARK_CAPTURE(run_totals, deepseek_v3, "deepseek-v3");
BENCHMARK_CAPTURE(run_update, llama_70b, "llama-3.1-70b");
BENCHMARK_CAPTURE(run_update, deepseek_v3, "deepseek-v3");

}  // namespace
}  // namespace sextant::bench
