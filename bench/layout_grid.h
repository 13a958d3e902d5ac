// A job on 1,024 devices and every legal layout of a grid, in random order: what a search meets.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <vector>

#include "describe/layout/pipeline_split.h"
#include "describe/layout/rules.h"
#include "describe/model/load_model.h"
#include "workload/shard.h"
#include "workload/stages.h"

namespace sextant::bench {

struct LayoutGrid {
  describe::Job job;
  std::vector<describe::Layout> layouts;
};

inline describe::Job grid_job(const char* model) {
  describe::Job job;
  job.model = *describe::load_model(model, describe::DataStore());
  job.cluster.devices = 1024;
  job.sequences.length = 8192;
  job.global_batch = 1024;
  for (auto& peak : job.cluster.device.peaks) {
    peak = describe::Sourced<FlopsPerSecond>{};
  }
  return job;
}

// Takes the choice that `index` counts to and leaves the rest of the index.
template <typename T, std::size_t N>
T pick(const std::array<T, N>& choices, std::size_t& index) {
  const T choice = choices[index % N];
  index /= N;
  return choice;
}

inline describe::Layout numbered_layout(const describe::Model& model, std::size_t index) {
  using describe::Recompute;
  using describe::Zero;
  describe::Layout layout;
  layout.tp = pick(std::array<std::int64_t, 4>{1, 2, 4, 8}, index);
  layout.pp = pick(std::array<std::int64_t, 5>{1, 2, 4, 8, 16}, index);
  layout.cp = pick(std::array<std::int64_t, 3>{1, 2, 4}, index);
  layout.mbs = pick(std::array<std::int64_t, 3>{1, 2, 4}, index);
  layout.zero = pick(std::array{Zero::kNone, Zero::kOptimizer}, index);
  layout.recompute.granularity =
      pick(std::array{Recompute::kNone, Recompute::kSelective, Recompute::kFull}, index);
  layout.ep = pick(std::array<std::int64_t, 3>{1, 8, 32}, index);
  layout.sp = layout.tp > 1;
  layout.split = describe::plausible_split(model.layer_count(), layout.pp);
  return layout;
}

inline LayoutGrid layout_grid(const char* model) {
  constexpr std::size_t kDense = std::size_t{4} * 5 * 3 * 3 * 2 * 3;
  constexpr std::size_t kExpertChoices = 3;
  LayoutGrid grid{grid_job(model), {}};
  const std::size_t count =
      describe::has_experts(grid.job.model) ? kDense * kExpertChoices : kDense;
  for (std::size_t index = 0; index < count; ++index) {
    grid.job.layout = numbered_layout(grid.job.model, index);
    if (describe::check_rules(grid.job).empty()) {
      grid.layouts.push_back(grid.job.layout);
    }
  }
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same order every time
  std::shuffle(grid.layouts.begin(), grid.layouts.end(), random);
  return grid;
}

// A layout with what a search has at hand for it.
struct Candidate {
  describe::Layout layout;
  workload::Shard shard;
  std::vector<workload::Stage> stages;
};

inline std::vector<Candidate> candidates_of(const LayoutGrid& grid) {
  std::vector<Candidate> candidates;
  candidates.reserve(grid.layouts.size());
  for (const describe::Layout& layout : grid.layouts) {
    candidates.push_back(
        {layout, workload::shard_of(grid.job, layout), workload::stages_of(grid.job, layout)});
  }
  return candidates;
}

}  // namespace sextant::bench
