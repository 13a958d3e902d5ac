#include "search/baselines/alpa.h"

#include <algorithm>
#include <map>
#include <memory>

#include "base/integers.h"
#include "describe/layout/legality.h"
#include "search/baselines/intra_op.h"
#include "search/baselines/pricer.h"
#include "search/baselines/stage_cuts.h"

namespace sextant::search {
namespace {

using describe::Layout;

// Microbatches while a run is priced; what one of them takes does not depend on it.
constexpr std::int64_t kRunMicrobatches = 4;

// Devices of each submesh, fewest first.
std::vector<std::int64_t> submeshes_of(const describe::Cluster& cluster, Submeshes which) {
  const std::int64_t node = std::min(cluster.devices_per_node(), cluster.devices);
  std::vector<std::int64_t> list;
  for (std::int64_t devices = 1; devices < node; devices *= 2) {
    list.push_back(devices);
  }
  for (std::int64_t nodes = 1; nodes <= cluster.devices / node; ++nodes) {
    if (which == Submeshes::kEvery || is_power_of_two(nodes)) {
      list.push_back(nodes * node);
    }
  }
  return list;
}

// Runs of layers on one submesh, as a stage between others on submeshes of the same size.
class RunPricer {
 public:
  RunPricer(const Problem& problem, std::int64_t devices) {
    const Layout& at = problem.job.layout;
    for (std::int64_t stages = 1; stages <= kMostStages; ++stages) {
      auto copy = std::make_unique<Problem>(problem);
      copy->job.cluster.devices = devices * stages;
      copy->job.global_batch = saturating_product({devices, at.mbs, kRunMicrobatches});
      leaves_.push_back(std::make_unique<Leaf>(*copy));
      problems_.push_back(std::move(copy));
    }
  }

  // Can stages of these sizes run at all?
  [[nodiscard]] bool works(std::int64_t tp) const {
    for (std::int64_t stages = 1; stages <= kMostStages; ++stages) {
      describe::Job job = problems_[static_cast<std::size_t>(stages - 1)]->job;
      const std::int64_t layers = job.model.layer_count();
      if (layers < stages) {
        continue;
      }
      job.layout = layout_of(job.layout, tp, stages);
      job.layout.split.layers_per_stage.assign(static_cast<std::size_t>(stages), 1);
      job.layout.split.layers_per_stage.back() = layers - stages + 1;
      if (!describe::is_legal(job)) {
        return false;
      }
    }
    return true;
  }

  // A microbatch through layers [first, last). REQUIRES: works(tp).
  Seconds time(std::int64_t tp, std::int64_t first, std::int64_t last) {
    const std::int64_t layers = problems_.front()->job.model.layer_count();
    std::vector<std::int64_t> cut;
    if (first > 0) {
      cut.push_back(first);
    }
    const std::size_t mine = cut.size();
    cut.push_back(last - first);
    if (last < layers) {
      cut.push_back(layers - last);
    }
    const std::size_t which = cut.size() - 1;
    Layout layout = layout_of(problems_[which]->job.layout, tp, as_count(cut.size()));
    layout.split.layers_per_stage = std::move(cut);
    ++priced_;
    const step::StageCost cost = leaves_[which]->stages(layout)[mine];
    return cost.forward.total() + cost.backward.total();
  }

  [[nodiscard]] std::int64_t priced() const { return priced_; }

 private:
  static constexpr std::int64_t kMostStages = 3;

  static std::int64_t as_count(std::size_t number) { return static_cast<std::int64_t>(number); }

  static Layout layout_of(const Layout& from, std::int64_t tp, std::int64_t stages) {
    Layout layout = from;
    layout.tp = tp;
    layout.sp = from.sp && tp > 1;
    layout.pp = stages;
    layout.dp = 0;
    layout.split = {};
    return layout;
  }

  std::vector<std::unique_ptr<Problem>> problems_;  // by number of stages
  std::vector<std::unique_ptr<Leaf>> leaves_;
  std::int64_t priced_ = 0;
};

class Alpa {
 public:
  explicit Alpa(const Problem& problem)
      : problem_(problem), choices_(choices_of(problem)), pricer_(problem) {
    const std::int64_t layers = problem.job.model.layer_count();
    for (std::int64_t first = 0; first < layers; ++first) {
      for (std::int64_t last = first + 1; last <= layers; ++last) {
        ++contents_[run_content(problem.job.model, first, last)];
      }
    }
  }

  AlpaResult result(Submeshes which) {
    for (const std::int64_t devices : submeshes_of(problem_.job.cluster, which)) {
      RunPricer runs(problem_, devices);
      for (const std::int64_t tp : choices_.tp) {
        if (is_power_of_two(tp) && devices % tp == 0 && runs.works(tp)) {
          solve_programs(tp);
          try_shape(runs, devices, tp);
        }
      }
      result_.calls.stages += runs.priced();
    }
    result_.calls.timed = pricer_.calls().timed;
    result_.calls.weighed = pricer_.calls().weighed;
    return result_;
  }

 private:
  // Step 1. How stages would split their groups over tp. A program depends on what a run holds and
  // on tp alone, so equal ones are solved once.
  void solve_programs(std::int64_t tp) {
    if (tp == 1 || std::find(solved_.begin(), solved_.end(), tp) != solved_.end()) {
      return;  // one device has one way
    }
    solved_.push_back(tp);
    const GroupCosts costs = group_costs(problem_, tp);
    result_.calls += costs.calls;
    for (const auto& [content, count] : contents_) {
      ++result_.programs;
      result_.mixed += solve_intra_op(costs, content).all_by_tensor ? 0 : 1;
    }
  }

  // Steps 2 and 3. Every run of layers priced; the model cut into as many stages as submeshes.
  // Where a stage turns out too large for its devices it is cut again without that run: Alpa's
  // bound on the memory of a stage, asked only where it binds.
  void try_shape(RunPricer& runs, std::int64_t devices, std::int64_t tp) {
    const describe::Job& job = problem_.job;
    const std::int64_t layers = job.model.layer_count();
    RunTimes times(layers);
    for (std::int64_t first = 0; first < layers; ++first) {
      for (std::int64_t last = first + 1; last <= layers; ++last) {
        times.at(first, last) = runs.time(tp, first, last);
      }
    }
    const std::int64_t sequences = devices / tp * job.layout.mbs;  // a microbatch, all replicas
    if (job.cluster.devices % devices != 0 || job.global_batch % sequences != 0) {
      return;
    }
    const std::int64_t stages = job.cluster.devices / devices;
    CutQuestion question{stages, job.global_batch / sequences, {}};
    for (auto cuts = best_cuts(times, question); cuts; cuts = best_cuts(times, question)) {
      const std::optional<std::int64_t> fullest = try_layout(tp, *cuts);
      if (!fullest) {
        return;
      }
      question.too_large.push_back(run_of(*cuts, *fullest));
    }
  }

  static TooLarge run_of(const StageCuts& cuts, std::int64_t stage) {
    TooLarge run{stage, 0, 0};
    for (std::int64_t i = 0; i < stage; ++i) {
      run.first += cuts.layers[static_cast<std::size_t>(i)];
    }
    run.last = run.first + cuts.layers[static_cast<std::size_t>(stage)];
    return run;
  }

  // The stage that does not fit, if one does not.
  std::optional<std::int64_t> try_layout(std::int64_t tp, const StageCuts& cuts) {
    Layout layout = problem_.job.layout;
    layout.tp = tp;
    layout.sp = layout.sp && tp > 1;
    layout.pp = static_cast<std::int64_t>(cuts.layers.size());
    layout.dp = 0;
    layout.split = {};
    const auto [least, most] = std::minmax_element(cuts.layers.begin(), cuts.layers.end());
    if (*least != *most) {
      layout.split.layers_per_stage = cuts.layers;
    }
    if (!pricer_.is_legal(layout)) {
      return std::nullopt;
    }
    if (const auto fullest = pricer_.too_full(layout)) {
      return fullest;
    }
    pricer_.improve(layout, result_.plan);
    return std::nullopt;
  }

  const Problem& problem_;
  Choices choices_;
  Pricer pricer_;
  std::map<RunContent, std::int64_t> contents_;
  std::vector<std::int64_t> solved_;
  AlpaResult result_;
};

}  // namespace

Problem shared_space(const Problem& problem) {
  Problem shared = problem;
  shared.fixed = {"cp",         "cp_method", "ep",       "etp",       "mbs",
                  "vpp",        "sp",        "schedule", "recompute", "zero",
                  "zero_group", "reshard",   "order",    "overlap",   "dispatcher"};
  return shared;
}

AlpaResult alpa(const Problem& problem, Submeshes submeshes) {
  return Alpa(problem).result(submeshes);
}

}  // namespace sextant::search
