#include "app/plan_none.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "cost/memory/memory.h"
#include "describe/layout/legality.h"
#include "explain/plan_words.h"
#include "search/space.h"

namespace sextant::app {
namespace {

using describe::Layout;

search::Problem without(const search::Problem& problem, const std::string& key) {
  search::Problem freed = problem;
  std::erase(freed.fixed, key);
  return freed;
}

// The search for the leanest, which asks the memory of one mesh after another.
class LeanSearch {
 public:
  explicit LeanSearch(const search::Problem& problem)
      : space_(problem), job_(problem.job), memory_(job_, problem.memory) {}

  std::optional<Lean> run() {
    for (const search::Shape& shape : space_.shapes()) {
      if (shape.mbs == space_.choices().mbs.front()) {
        add_shape(shape);
      }
    }
    return best_;
  }

 private:
  void add_shape(const search::Shape& shape) {
    for (const search::Variant& variant : space_.variants(shape)) {
      const bool usual = variant.cp_method == space_.choices().cp_methods.front() &&
                         variant.dispatcher == space_.choices().dispatchers.front();
      if (!usual) {
        continue;  // they send otherwise, and keep the same
      }
      Layout at = space_.layout_of(shape, variant);
      std::int64_t last = 0;
      for (const search::Pipeline& pipeline : space_.pipelines(at)) {
        if (pipeline.pp != last) {  // the first of its size: the fewest chunks
          search::Space::set(pipeline, at);
          add_pipeline(at);
          last = pipeline.pp;
        }
      }
    }
  }

  void add_pipeline(Layout at) {
    at.split = space_.splits(at.stages()).front();
    for (const search::SwitchGroup& group : space_.switches(at)) {
      if (!group.lean) {
        continue;
      }
      at.recompute = group.recompute;
      for (const search::Sharding& sharding : group.shardings) {
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
    const Bytes needed = memory_.fullest(at).least;
    if (!best_ || needed < best_->needed) {
      best_ = Lean{at, needed};
    }
  }

  search::Space space_;
  describe::Job job_;
  cost::MemoryModel memory_;
  std::optional<Lean> best_;
};

// "recompute freed: tp=8,… needs 61 GiB", where it fits.
void add_if_fits(const std::string& what, const search::Problem& problem,
                 std::vector<std::string>& changes) {
  const auto lean = leanest(problem);
  if (lean && lean->needed <= problem.available()) {
    changes.push_back(fmt::format("{}: {} needs {} of {}", what,
                                  explain::layout_words(lean->layout, problem.job.framework),
                                  to_text(lean->needed), to_text(problem.available())));
  }
}

void add_headroom(const search::Problem& problem, Bytes needed, std::vector<std::string>& changes) {
  const Bytes usable = problem.job.cluster.device.usable_memory();
  if (needed <= usable) {
    changes.push_back(fmt::format("--headroom {:.1f}%: {} of {} are needed",
                                  (1.0 - needed / usable) * 100.0, to_text(needed),
                                  to_text(usable)));
  }
}

void add_offload(const search::Problem& problem, std::vector<std::string>& changes) {
  search::Problem offloaded = problem;
  offloaded.job.layout.activation_offload = true;
  add_if_fits("activation_offload=1", offloaded, changes);
  offloaded = problem;
  offloaded.job.layout.optimizer.offload = true;
  add_if_fits(fmt::format("optimizer={}", explain::value_of(offloaded.job.layout, "optimizer")),
              offloaded, changes);
}

void add_devices(const PlanProblem& of, const Context& context, std::vector<std::string>& changes) {
  constexpr std::array<std::int64_t, 6> kTimes{2, 4, 8, 16, 32, 64};
  for (const std::int64_t times : kTimes) {
    const std::int64_t devices = of.problem.job.cluster.devices * times;
    const auto grown = with_devices(of, devices, context);
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

std::optional<Lean> leanest(const search::Problem& problem) {
  return LeanSearch(problem).run();
}

explain::NoPlan no_plan(const PlanProblem& of, const search::Settled& settled,
                        const Context& context) {
  const search::Problem& problem = of.problem;
  explain::NoPlan none;
  const auto lean = settled.possible > 0.0 ? leanest(problem) : std::nullopt;
  if (!lean) {
    none.broken = broken_rules(of, problem.job.layout);
    for (const std::string& key : problem.fixed) {
      const search::Problem freed = without(problem, key);
      if (is_searched(key) && search::Space(freed).count() > 0.0) {
        none.freed.push_back(fmt::format("{}={}", key, explain::value_of(problem.job.layout, key)));
      }
    }
    return none;
  }
  none.leanest = plan_row(of, lean->layout);
  none.missing = lean->needed - problem.available();
  add_headroom(problem, lean->needed, none.changes);
  for (const std::string& key : problem.fixed) {
    if (is_searched(key)) {
      add_if_fits(fmt::format("{} freed", key), without(problem, key), none.changes);
    }
  }
  add_offload(problem, none.changes);
  add_devices(of, context, none.changes);
  return none;
}

}  // namespace sextant::app
