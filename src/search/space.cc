#include "search/space.h"

#include <algorithm>

#include "base/integers.h"
#include "describe/layout/framework_rules.h"
#include "describe/layout/legality.h"
#include "describe/layout/pipeline_split.h"
#include "search/splits.h"
#include "workload/stages.h"

namespace sextant::search {
namespace {

using describe::Layout;
using describe::Schedule;
using describe::Zero;

}  // namespace

Space::Space(const Problem& problem)
    : problem_(problem),
      choices_(choices_of(problem)),
      job_(problem.job),
      splits_(static_cast<std::size_t>(problem.job.model.layer_count()) + 3) {
  find_shapes();
}

std::size_t Space::place_of(std::int64_t pp) const {
  return static_cast<std::size_t>(std::lower_bound(choices_.pp.begin(), choices_.pp.end(), pp) -
                                  choices_.pp.begin());
}

std::size_t Space::place_of(const std::array<describe::Axis, 5>& order) const {
  return static_cast<std::size_t>(std::find(choices_.orders.begin(), choices_.orders.end(), order) -
                                  choices_.orders.begin());
}

Space::ShapeFacts& Space::facts_of(const Layout& layout) {
  const Layout& at = layout;
  const Shape shape{at.tp, at.cp, at.ep, at.etp, at.mbs};
  if (facts_.shape != shape) {
    facts_.shape = shape;
    facts_.inside.assign((choices_.pp.size() + 1) * choices_.orders.size(), std::nullopt);
    facts_.runs.assign(
        2 * (choices_.pp.size() + 1) * choices_.orders.size() * (choices_.schedules.size() + 1),
        std::nullopt);
    facts_.counted.reset();
  }
  return facts_;
}

// The rules about devices and batch, in numbers: WORLD-PRODUCT, BATCH-DP, BATCH-MICRO and
// EXPERT-WORLD.
bool Space::divides(const Shape& shape, std::int64_t pp) const {
  const Shape& at = shape;
  const std::int64_t devices = problem_.job.cluster.devices;
  const std::int64_t batch = problem_.job.global_batch;
  const std::int64_t ranks = saturating_product({at.tp, at.cp, pp});
  if (devices % ranks != 0) {
    return false;
  }
  const std::int64_t dp = devices / ranks;
  const std::int64_t of_replica = batch / dp;
  return (!problem_.is_fixed("dp") || problem_.job.layout.dp == dp) && batch % dp == 0 &&
         of_replica >= at.mbs && (of_replica % at.mbs == 0 || pp == 1) &&
         devices / pp % saturating_product({at.ep, at.etp}) == 0;
}

// Shapes of one mesh, smallest micro-batch first.
void Space::add_shapes(Shape shape) {
  if (variants(shape).empty()) {
    return;
  }
  for (const std::int64_t mbs : choices_.mbs) {
    shape.mbs = mbs;
    if (std::any_of(choices_.pp.begin(), choices_.pp.end(),
                    [&](std::int64_t pp) { return divides(shape, pp); })) {
      shapes_.push_back(shape);
    }
  }
}

void Space::find_shapes() {
  const auto add_experts = [&](std::int64_t tp, std::int64_t cp) {
    for (const std::int64_t ep : choices_.ep) {
      for (const std::int64_t etp : choices_.etp) {
        add_shapes({tp, cp, ep, etp, choices_.mbs.front()});
      }
    }
  };
  for (const std::int64_t tp : choices_.tp) {
    for (const std::int64_t cp : choices_.cp) {
      add_experts(tp, cp);
    }
  }
}

const std::vector<Variant>& Space::variants(const Shape& shape) {
  const std::array<std::int64_t, 4> key{shape.tp, shape.cp, shape.ep, shape.etp};
  const auto found = variants_.find(key);
  if (found != variants_.end()) {
    return found->second;
  }
  return variants_.emplace(key, make_variants(shape)).first->second;
}

// Those that the core rules allow, on as many devices and sequences as go with them.
std::vector<Variant> Space::make_variants(const Shape& shape) {
  std::vector<Variant> list;
  const auto add = [&](const Variant& variant) {
    job_.layout = layout_of(shape, variant);
    job_.layout.dp = 0;
    job_.cluster.devices = saturating_product({shape.tp, shape.cp, shape.ep, shape.etp});
    job_.global_batch = saturating_product({job_.dp(), shape.mbs});
    if (describe::core_allows(job_)) {
      list.push_back(variant);
    }
  };
  const auto add_launches = [&](bool sp, describe::CpMethod method) {
    for (const describe::Dispatcher dispatcher :
         if_it_matters(choices_.dispatchers, shape.ep > 1)) {
      for (const describe::Launch launch : choices_.launches) {
        add({sp && shape.tp > 1, method, dispatcher, launch});
      }
    }
  };
  for (const bool sp : if_it_matters(choices_.sp, shape.tp > 1)) {
    for (const describe::CpMethod method : if_it_matters(choices_.cp_methods, shape.cp > 1)) {
      add_launches(sp, method);
    }
  }
  job_.cluster.devices = problem_.job.cluster.devices;
  job_.global_batch = problem_.job.global_batch;
  return list;
}

Layout Space::layout_of(const Shape& shape, const Variant& variant) const {
  Layout layout = problem_.job.layout;
  layout.tp = shape.tp;
  layout.cp = shape.cp;
  layout.ep = shape.ep;
  layout.etp = shape.etp;
  layout.mbs = shape.mbs;
  layout.sp = variant.sp;
  layout.cp_method = variant.cp_method;
  layout.dispatcher = variant.dispatcher;
  layout.launch = variant.launch;
  layout.pp = 1;
  layout.vpp = 1;
  layout.schedule = Schedule::k1f1b;
  layout.order = choices_.orders.front();
  layout.split = {};
  layout.recompute = {};
  layout.zero = Zero::kNone;
  layout.zero_group = 0;
  layout.overlap.clear();
  layout.dp = 0;
  return layout;
}

void Space::set(const Pipeline& pipeline, Layout& layout) {
  layout.pp = pipeline.pp;
  layout.vpp = pipeline.vpp;
  layout.schedule = pipeline.schedule;
  layout.order = pipeline.order;
}

Space::Splits& Space::splits_into(std::int64_t stages) {
  Splits& splits = splits_[static_cast<std::size_t>(stages)];
  if (splits.made) {
    return splits;
  }
  splits.made = true;
  splits.ways = splits_of(problem_, choices_, stages);
  const workload::LayerIndex index(problem_.job.model);
  Layout probe;
  probe.pp = stages;
  workload::Stage stage;
  for (const describe::PipelineSplit& split : splits.ways) {
    probe.split = split;
    std::vector<std::int64_t> counts;
    for (std::int64_t i = 0; i < stages; ++i) {
      workload::fill_stage(problem_.job, probe, index, i, stage);
      counts.insert(counts.end(), stage.blocks.begin(), stage.blocks.end());
    }
    splits.held.push_back(std::move(counts));
  }
  return splits;
}

const std::vector<describe::PipelineSplit>& Space::splits(std::int64_t stages) {
  return splits_into(stages).ways;
}

const std::vector<std::vector<std::int64_t>>& Space::held(std::int64_t stages) {
  return splits_into(stages).held;
}

bool Space::holds(const Layout& layout) {
  const std::vector<Variant>& all =
      variants({layout.tp, layout.cp, layout.ep, layout.etp, layout.mbs});
  return std::any_of(all.begin(), all.end(), [&](const Variant& variant) {
    Layout at = layout_of({layout.tp, layout.cp, layout.ep, layout.etp, layout.mbs}, variant);
    const std::vector<Pipeline> runnable = pipelines(at);
    return std::any_of(runnable.begin(), runnable.end(), [&](const Pipeline& pipeline) {
      set(pipeline, at);
      return holds_switches(at, layout);
    });
  });
}

// Is the layout this one with a split and switches of the space?
bool Space::holds_switches(Layout at, const Layout& layout) {
  if (at.pp != layout.pp || at.vpp != layout.vpp || at.schedule != layout.schedule) {
    return false;
  }
  const auto& ways = splits(at.stages());
  if (std::find(ways.begin(), ways.end(), layout.split) == ways.end()) {
    return false;
  }
  at.split = layout.split;
  const auto has = [&](const Sharding& sharding) {
    set(sharding, at);
    at.overlap = layout.overlap;
    return at == layout && sharding.hidden.has(layout.overlap);
  };
  const std::vector<SwitchGroup>& groups = switches(at);
  return std::any_of(groups.begin(), groups.end(), [&](const SwitchGroup& group) {
    at.recompute = group.recompute;
    return std::any_of(group.shardings.begin(), group.shardings.end(), has);
  });
}

}  // namespace sextant::search
