#include "search/splits.h"

#include <algorithm>

#include "describe/layout/pipeline_split.h"

namespace sextant::search {
namespace {

using describe::PipelineSplit;

// `first` and `last` layers at the ends, the others spread evenly over the stages between.
PipelineSplit with_ends(std::int64_t layers, std::int64_t stages, std::int64_t first,
                        std::int64_t last) {
  PipelineSplit split;
  split.layers_per_stage.assign(static_cast<std::size_t>(stages), 0);
  split.layers_per_stage.front() = first;
  split.layers_per_stage.back() = last;
  const std::int64_t between = stages - 2;
  const std::int64_t rest = layers - first - last;
  for (std::int64_t i = 0; i < between; ++i) {
    split.layers_per_stage[static_cast<std::size_t>(i + 1)] =
        (i + 1) * rest / between - i * rest / between;
  }
  return split;
}

void add_counted(std::int64_t layers, std::int64_t stages, std::vector<PipelineSplit>& list) {
  for (const auto& [embedding, loss] : {std::pair{true, true}, {false, true}, {true, false}}) {
    const std::int64_t counted = (embedding ? 1 : 0) + (loss ? 1 : 0);
    const std::int64_t each = (layers + counted) / stages;
    // Every stage holds a layer; of more stages than layers an end may stand alone, as its rank
    // holds other chunks.
    if ((layers + counted) % stages == 0 && (each > 1 || stages > layers)) {
      list.push_back({embedding, loss, {}});
    }
  }
}

void add_uneven(std::int64_t layers, std::int64_t stages, std::vector<PipelineSplit>& list) {
  constexpr std::int64_t kLighterFirst = 2;
  constexpr std::int64_t kLighterLast = 4;  // a head of a large vocabulary weighs several layers
  constexpr std::int64_t kHeavier = 1;
  describe::Layout probe;
  probe.pp = stages;
  std::vector<std::vector<std::int64_t>> known;
  for (const PipelineSplit& split : list) {
    probe.split = split;
    if (auto counts = describe::layers_of_stages(layers, probe)) {
      known.push_back(*std::move(counts));
    }
  }
  const std::int64_t even = layers / stages;
  const std::int64_t left_over = layers % stages != 0 ? 1 : 0;
  for (std::int64_t last = even - kLighterLast; last <= even + kHeavier; ++last) {
    // What a light last stage leaves makes those before it heavier.
    const std::int64_t most = even + kHeavier + (last < even ? left_over : 0);
    for (std::int64_t first = even - kLighterFirst; first <= most; ++first) {
      const std::int64_t rest = layers - first - last;
      if (first < 1 || last < 1 || rest < stages - 2 || (stages == 2 && rest != 0)) {
        continue;
      }
      PipelineSplit split = with_ends(layers, stages, first, last);
      if (std::find(known.begin(), known.end(), split.layers_per_stage) == known.end()) {
        known.push_back(split.layers_per_stage);
        list.push_back(std::move(split));
      }
    }
  }
}

}  // namespace

std::vector<PipelineSplit> splits_of(const Problem& problem, const Choices& choices,
                                     std::int64_t stages) {
  const std::int64_t layers = problem.job.model.layer_count();
  std::vector<PipelineSplit> list;
  if (problem.is_fixed("layers_per_stage")) {
    describe::Layout probe;
    probe.pp = stages;
    probe.split = problem.job.layout.split;
    if (describe::layers_of_stages(layers, probe)) {
      list.push_back(probe.split);
    }
    return list;
  }
  if (layers % stages == 0) {
    list.emplace_back();
  }
  if (stages == 1 || choices.splits == Splits::kEven) {
    return list;
  }
  if (choices.counts_ends) {
    add_counted(layers, stages, list);
  }
  if (choices.splits == Splits::kAny) {
    add_uneven(layers, stages, list);
  } else if (list.empty() && stages <= layers) {
    list.push_back(describe::plausible_split(layers, stages));
  }
  return list;
}

void add_part_policies(std::int64_t layers, std::int64_t stages,
                       std::vector<describe::RecomputePolicy>& policies) {
  constexpr std::int64_t kParts = 4;
  const std::int64_t most = (layers + stages - 1) / stages;
  std::int64_t before = 0;
  for (std::int64_t part = 1; part < kParts; ++part) {
    const std::int64_t number = most * part / kParts;
    if (number > before) {
      describe::RecomputePolicy policy;
      policy.granularity = describe::Recompute::kFull;
      policy.method = describe::RecomputeMethod::kBlock;
      policy.layers = number;
      policies.push_back(policy);
      before = number;
    }
  }
}

}  // namespace sextant::search
