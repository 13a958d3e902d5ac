// Which pipelines a layout of the space can run, and how many layouts there are.
#include <algorithm>

#include "base/integers.h"
#include "describe/layout/framework_rules.h"
#include "describe/layout/rules.h"
#include "search/mesh_orders.h"
#include "search/space.h"

namespace sextant::search {
namespace {

using describe::Layout;
using describe::runs_chunks;
using describe::Schedule;

}  // namespace

template <class Use>
void Space::each_chunking(std::int64_t pp, Schedule schedule, Chunks chunks, const Use& use) {
  for (const std::int64_t vpp : choices_.vpp) {
    if (saturating_product({pp, vpp}) < static_cast<std::int64_t>(splits_.size()) &&
        (vpp > 1) == (chunks == Chunks::kSeveral) && runs_chunks(schedule, vpp) &&
        !splits(pp * vpp).empty()) {
      use(Pipeline{pp, vpp, schedule, {}});
    }
  }
}

std::optional<bool>& Space::known_to_run(const Layout& layout, Chunks chunks) {
  const auto schedule =
      std::find(choices_.schedules.begin(), choices_.schedules.end(), layout.schedule);
  const std::size_t place =
      ((place_of(layout.pp) * choices_.orders.size() + place_of(layout.order)) *
           (choices_.schedules.size() + 1) +
       static_cast<std::size_t>(schedule - choices_.schedules.begin())) *
          2 +
      (chunks == Chunks::kOne ? 0 : 1);
  return facts_of(layout).runs[place];
}

// Does the framework let the layout's schedule run one or several chunks on this batch? Its rules
// ask no more of vpp than that, and nothing of the variant.
bool Space::runs(const Layout& layout, Chunks chunks) {
  if (!runs_chunks(layout.schedule, chunks == Chunks::kOne ? 1 : 2)) {
    return false;
  }
  std::optional<bool>& known = known_to_run(layout, chunks);
  if (!known) {
    known = ask_batch(layout, chunks);
  }
  return known.value_or(true);
}

// Nothing where no switches go with the variant: then nothing is learnt of others.
std::optional<bool> Space::ask_batch(const Layout& layout, Chunks chunks) {
  Layout at = layout;
  at.vpp = 0;
  each_chunking(layout.pp, layout.schedule, chunks,
                [&](const Pipeline& pipeline) { at.vpp = at.vpp == 0 ? pipeline.vpp : at.vpp; });
  if (at.vpp == 0) {
    return false;
  }
  const std::vector<SwitchGroup>& groups = switches(at);
  if (groups.empty()) {
    return std::nullopt;
  }
  job_.layout = at;
  job_.layout.split = splits(at.stages()).front();
  job_.layout.recompute = groups.front().recompute;
  set(groups.front().shardings.front(), job_.layout);
  job_.layout.overlap = groups.front().shardings.front().hidden.front();
  return describe::framework_allows(job_);
}

template <class Use>
void Space::each_schedule(const Layout& layout, const Use& use) {
  Layout at = layout;
  for (const std::int64_t pp : choices_.pp) {
    at.pp = pp;
    if (divides(at)) {
      each_schedule_of_pp(at, use);
    }
  }
}

template <class Use>
void Space::each_schedule_of_pp(Layout& at, const Use& use) {
  const bool several = at.pp > 1;
  const auto use_if_it_runs = [&](Chunks chunks) {
    if (runs(at, chunks)) {
      use(at, chunks);
    }
  };
  for (const auto& order : choices_.mesh ? mesh_orders(problem_, choices_, at)
                                         : if_it_matters(choices_.orders, several)) {
    at.order = order;
    for (const Schedule schedule : if_it_matters(choices_.schedules, several)) {
      at.schedule = several ? schedule : Schedule::k1f1b;
      use_if_it_runs(Chunks::kOne);
      if (several) {
        use_if_it_runs(Chunks::kSeveral);
      }
    }
  }
}

std::vector<Pipeline> Space::pipelines(const Layout& layout) {
  std::vector<Pipeline> list;
  Layout probe = layout;
  each_schedule(layout, [&](const Layout& at, Chunks chunks) {
    each_chunking(at.pp, at.schedule, chunks, [&](Pipeline pipeline) {
      pipeline.order = at.order;
      set(pipeline, probe);
      if (!switches(probe).empty()) {
        list.push_back(pipeline);
      }
    });
  });
  return list;
}

std::vector<Pipeline> Space::chunkings(std::int64_t pp) {
  std::vector<Pipeline> list;
  const auto add = [&list](const Pipeline& pipeline) { list.push_back(pipeline); };
  for (const Schedule schedule : if_it_matters(choices_.schedules, pp > 1)) {
    each_chunking(pp, pp > 1 ? schedule : Schedule::k1f1b, Chunks::kOne, add);
    if (pp > 1) {
      each_chunking(pp, schedule, Chunks::kSeveral, add);
    }
  }
  return list;
}

// The key of any number of chunks holds what switches depend on, but for the layers of a stage,
// which follow from pp.
Space::Counted Space::counted(const Layout& layout, Chunks chunks) {
  constexpr unsigned kPpBits = 16;
  Layout at = layout;
  at.vpp = chunks == Chunks::kOne ? 1 : 2;
  return {layout.pp, layout.order, layout.schedule, chunks,
          (shape_bits(at) >> kLayerBits) << kPpBits | static_cast<SwitchKey>(layout.pp)};
}

std::optional<std::vector<Space::Counted>> Space::list_counted(const Layout& layout) {
  std::vector<Counted> list;
  bool sure = true;
  each_schedule(layout, [&](const Layout& at, Chunks chunks) {
    sure = sure && known_to_run(at, chunks).has_value();
    list.push_back(counted(at, chunks));
  });
  return sure ? std::optional(std::move(list)) : std::nullopt;
}

double Space::make_count(const Counted& run, const Layout& layout) {
  Layout at = layout;
  at.pp = run.pp;
  at.order = run.order;
  at.schedule = run.schedule;
  double all = 0.0;
  each_chunking(run.pp, run.schedule, run.chunks, [&](const Pipeline& pipeline) {
    at.vpp = pipeline.vpp;
    double switched = 0.0;
    for (const SwitchGroup& group : switches(at)) {
      switched += group.count;
    }
    all += switched * static_cast<double>(splits(at.stages()).size());
  });
  return all;
}

double Space::count(const Counted& run, const Layout& layout) {
  const SwitchKey key = run.key | variant_bits(layout) << kShapeBits;
  const auto known = counts_.find(key);
  if (known != counts_.end()) {
    return known->second;
  }
  return counts_.emplace(key, make_count(run, layout)).first->second;
}

double Space::count(const Layout& layout) {
  double all = 0.0;
  if (!facts_of(layout).counted) {
    facts_.counted = list_counted(layout);
  }
  if (facts_.counted) {
    for (const Counted& run : *facts_.counted) {
      all += count(run, layout);
    }
    return all;
  }
  each_schedule(
      layout, [&](const Layout& at, Chunks chunks) { all += count(counted(at, chunks), layout); });
  return all;
}

double Space::count() {
  double all = 0.0;
  for (const Shape& shape : shapes_) {
    for (const Variant& variant : variants(shape)) {
      all += count(layout_of(shape, variant));
    }
  }
  return all;
}

}  // namespace sextant::search
