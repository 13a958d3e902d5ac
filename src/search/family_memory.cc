// What of a family fits, asked as seldom as can be.
#include <algorithm>

#include "cost/memory/in_flight.h"
#include "search/family.h"

namespace sextant::search {

using describe::Layout;

std::size_t Explorer::kind_of(const Sharding& sharding) {
  return static_cast<std::size_t>(sharding.zero) * 4 + (sharding.inside ? 2 : 0) +
         (sharding.reshard ? 1 : 0);
}
void Explorer::lower_to_cut(const Layout& layout, const std::vector<std::int64_t>& held,
                            Lightest& least) const {
  const std::size_t blocks = least.layers.size();
  const std::int64_t rank = layout.pp > 2 ? 1 : 0;
  std::vector<std::int64_t> layers(blocks);
  std::vector<std::int64_t> alive(blocks);
  for (std::int64_t stage = 0; stage < layout.stages(); ++stage) {
    if (workload::pipeline_rank_of(stage, layout) != rank) {
      continue;
    }
    const std::int64_t kept = cost::in_flight(layout, microbatches(layout), stage);
    for (std::size_t i = 0; i < blocks; ++i) {
      const std::int64_t count = held[static_cast<std::size_t>(stage) * blocks + i];
      layers[i] += count;
      alive[i] += count * kept;
    }
  }
  least.any = true;
  for (std::size_t i = 0; i < blocks; ++i) {
    least.layers[i] = std::min(least.layers[i], layers[i]);
    least.alive[i] = std::min(least.alive[i], alive[i]);
  }
}

const Explorer::Lightest& Explorer::lightest(const Layout& layout) {
  const auto [known, is_new] = lightest_.try_emplace({layout.pp, microbatches(layout)});
  Lightest& least = known->second;
  if (!is_new) {
    return least;
  }
  const std::size_t blocks = space_.problem().job.model.blocks.size();
  least.layers.assign(blocks, INT64_MAX);
  least.alive.assign(blocks, INT64_MAX);
  Layout at = layout;
  for (const Pipeline& pipeline : space_.chunkings(layout.pp)) {
    at.vpp = pipeline.vpp;
    at.schedule = pipeline.schedule;
    for (const std::vector<std::int64_t>& held : space_.held(at.stages())) {
      lower_to_cut(at, held, least);
    }
  }
  return least;
}

bool Explorer::is_too_large(const Layout& layout, const std::vector<SwitchGroup>& groups) {
  const auto [known, is_new] = too_large_.try_emplace({layout.pp, layout.sp}, false);
  if (!is_new) {
    return known->second;
  }
  const Lightest& least = lightest(layout);
  if (!least.any) {
    known->second = true;  // no layout at all
    return true;
  }
  Layout at = layout;
  for (const SwitchGroup& group : groups) {
    if (!group.lean) {
      continue;
    }
    if (workload::counts_layers(group.recompute)) {
      return false;
    }
    at.recompute = group.recompute;
    for (const Sharding& sharding : group.shardings) {
      space_.set(sharding, at);
      if (leaf_.least_with(at, least.layers, least.alive) <= space_.problem().available()) {
        return false;
      }
    }
  }
  known->second = true;
  return true;
}

bool Explorer::is_too_large(const Layout& layout) {
  Layout at = layout;
  const std::vector<std::int64_t>& sizes = space_.choices().pp;
  return std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t pp) {
    at.pp = pp;
    return !space_.divides(at) || is_too_large(at, space_.switches(at));
  });
}

bool Explorer::fits(const Layout& layout, const SwitchGroup& group, std::size_t split,
                    const Sharding& sharding) {
  std::uint64_t key = layout.sp ? 1 : 0;
  const auto add = [&key](std::uint64_t value, unsigned bits) { key = key << bits | value; };
  add(static_cast<std::uint64_t>(layout.pp), 16);
  add(static_cast<std::uint64_t>(layout.vpp), 12);
  add(static_cast<std::uint64_t>(layout.schedule), 3);
  add(split, 6);
  add(kind_of(sharding), 4);
  const bool part = group.policy == SwitchGroup::kNoPolicy;
  add(part ? 1 : 0, 1);
  add(part ? static_cast<std::uint64_t>(group.recompute.layers) : group.policy, 16);
  const auto [known, is_new] = fits_.try_emplace(key, false);
  if (is_new) {
    known->second = leaf_.fits(layout);
  }
  return known->second;
}

bool Explorer::fits_with(Layout& layout, const SwitchGroup& group, std::size_t split,
                         const Sharding& sharding) {
  layout.recompute = group.recompute;
  space_.set(sharding, layout);
  return fits(layout, group, split, sharding);
}

bool Explorer::fits_at_all(Layout& layout, const std::vector<SwitchGroup>& groups,
                           std::size_t split, const Sharding& sharding) {
  return std::any_of(groups.rbegin(), groups.rend(), [&](const SwitchGroup& group) {
    return group.lean && fits_with(layout, group, split, sharding);
  });
}

void Explorer::note_unfit(const SwitchGroup& group, const Sharding& sharding) {
  if (group.modules) {
    unfit_.emplace_back(kind_of(sharding), *group.modules);
  }
}

bool Explorer::is_known_unfit(const SwitchGroup& group, const Sharding& sharding) const {
  return group.modules && std::any_of(unfit_.begin(), unfit_.end(), [&](const auto& unfit) {
           return unfit.first == kind_of(sharding) && (*group.modules & ~unfit.second) == 0;
         });
}

}  // namespace sextant::search
