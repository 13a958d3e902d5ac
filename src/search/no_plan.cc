#include "search/no_plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "cost/memory/memory.h"
#include "describe/layout/layout_words.h"
#include "describe/layout/legality.h"
#include "search/choices.h"
#include "search/space.h"

namespace sextant::search {
namespace {

using describe::Layout;

Problem without(const Problem& problem, const std::string& key) {
  Problem freed = problem;
  std::erase(freed.fixed, key);
  return freed;
}

// The search for the leanest, which asks the memory of one mesh after another.
class LeanSearch {
 public:
  explicit LeanSearch(const Problem& problem)
      : space_(problem), job_(problem.job), memory_(job_, problem.memory) {}

  std::optional<Lean> run() {
    for (const Shape& shape : space_.shapes()) {
      if (shape.mbs == space_.choices().mbs.front()) {
        add_shape(shape);
      }
    }
    return best_;
  }

 private:
  void add_shape(const Shape& shape) {
    for (const Variant& variant : space_.variants(shape)) {
      const bool usual = variant.cp_method == space_.choices().cp_methods.front() &&
                         variant.dispatcher == space_.choices().dispatchers.front();
      if (!usual) {
        continue;  // they send otherwise, and keep the same
      }
      Layout at = space_.layout_of(shape, variant);
      std::int64_t last = 0;
      for (const Pipeline& pipeline : space_.pipelines(at)) {
        if (pipeline.pp != last) {  // the first of its size: the fewest chunks
          Space::set(pipeline, at);
          add_pipeline(at);
          last = pipeline.pp;
        }
      }
    }
  }

  void add_pipeline(Layout at) {
    at.split = space_.splits(at.stages()).front();
    for (const SwitchGroup& group : space_.switches(at)) {
      if (!group.lean) {
        continue;
      }
      at.recompute = group.recompute;
      for (const Sharding& sharding : group.shardings) {
        space_.set(sharding, at);
        at.overlap = sharding.hidden.back();
        weigh(at);
      }
    }
  }

  void weigh(const Layout& at) {
    job_.layout = at;
    if (!describe::is_legal(job_)) {
      return;
    }
    const Bytes needed = memory_.fullest(at).device;
    if (!best_ || needed < best_->needed) {
      best_ = Lean{at, needed};
    }
  }

  Space space_;
  describe::Job job_;
  cost::MemoryModel memory_;
  std::optional<Lean> best_;
};

void add_if_fits(const std::string& what, const Problem& problem, std::vector<Remedy>& changes) {
  const auto lean = leanest(problem);
  if (lean && lean->needed <= problem.available()) {
    changes.push_back(
        {what, std::nullopt, words_of(problem, lean->layout), lean->needed, problem.available()});
  }
}

void add_headroom(const Problem& problem, Bytes needed, std::vector<Remedy>& changes) {
  const Bytes usable = problem.job.cluster.device.usable_memory();
  if (needed <= usable) {
    changes.push_back({"headroom", 1.0 - needed / usable, {}, needed, usable});
  }
}

void add_offload(const Problem& problem, std::vector<Remedy>& changes) {
  Problem offloaded = problem;
  offloaded.job.layout.activation_offload = true;
  add_if_fits("activation_offload=1", offloaded, changes);
  offloaded = problem;
  offloaded.job.layout.optimizer.offload = true;
  add_if_fits(fmt::format("optimizer={}", describe::value_of(offloaded.job.layout, "optimizer")),
              offloaded, changes);
}

void add_devices(const Task& of, const describe::DataStore& data, std::vector<Remedy>& changes) {
  constexpr std::array<std::int64_t, 6> kTimes{2, 4, 8, 16, 32, 64};
  for (const std::int64_t times : kTimes) {
    const std::int64_t devices = of.problem.job.cluster.devices * times;
    const auto grown = with_devices(of, devices, data);
    if (!grown) {
      return;
    }
    const std::size_t before = changes.size();
    add_if_fits(fmt::format("{} devices", devices), grown->problem, changes);
    if (changes.size() > before) {
      return;
    }
  }
}

}  // namespace

std::optional<Lean> leanest(const Problem& problem) {
  return LeanSearch(problem).run();
}

NoPlan no_plan(const Task& task, const Settled& settled, const describe::DataStore& data) {
  const Problem& problem = task.problem;
  NoPlan none;
  const auto lean = settled.possible > 0.0 ? leanest(problem) : std::nullopt;
  if (!lean) {
    none.broken = broken_rules(task, problem.job.layout);
    for (const std::string& key : problem.fixed) {
      const Problem freed = without(problem, key);
      if (is_searched(key) && Space(freed).count() > 0.0) {
        none.freed.push_back(
            fmt::format("{}={}", key, describe::value_of(problem.job.layout, key)));
      }
    }
    return none;
  }
  none.leanest = plan_row(task, lean->layout);
  none.missing = lean->needed - problem.available();
  add_headroom(problem, lean->needed, none.changes);
  for (const std::string& key : problem.fixed) {
    if (is_searched(key)) {
      add_if_fits(fmt::format("{} freed", key), without(problem, key), none.changes);
    }
  }
  add_offload(problem, none.changes);
  add_devices(task, data, none.changes);
  return none;
}

}  // namespace sextant::search
