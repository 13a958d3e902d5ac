// What of a family fits, asked as seldom as can be.
#include <algorithm>
#include <ranges>

#include "cost/memory/in_flight.h"
#include "search/family.h"

namespace sextant::search {

using describe::Layout;

std::size_t Explorer::kind_of(const Sharding& sharding) {
  return static_cast<std::size_t>(sharding.zero) * 4 + (sharding.inside ? 2 : 0) +
         (sharding.reshard ? 1 : 0);
}

// What of a variant says which tensors are kept, and how large.
std::uint64_t Explorer::kept_bits(const Layout& layout) {
  return (layout.sp ? 1U : 0U) | static_cast<std::uint64_t>(layout.launch) << 1U;
}

// Of the orders of a mesh, two shard inside a slice: with the pipeline outermost, and with data.
bool Explorer::has_other_order(const Layout& layout) const {
  const auto& choices = space_.choices();
  return choices.mesh && layout.order != choices.orders.front();
}

std::uint64_t Explorer::kind_of(const Layout& layout, const Sharding& sharding) const {
  return kind_of(sharding) + (sharding.inside && has_other_order(layout) ? kShardingKinds : 0);
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
  const auto [known, is_new] = too_large_.try_emplace({layout.pp, kept_bits(layout)}, false);
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
    if (group.part) {
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
  std::uint64_t key = kept_bits(layout);
  const auto add = [&key](std::uint64_t value, unsigned bits) { key = key << bits | value; };
  add(static_cast<std::uint64_t>(layout.pp), 16);
  add(static_cast<std::uint64_t>(layout.vpp), 12);
  add(static_cast<std::uint64_t>(layout.schedule), 3);
  add(split, 6);
  add(kind_of(layout, sharding), 5);
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

bool Explorer::fits_at_all(Layout& layout, const Switches& switches, std::size_t split,
                           const Sharding& sharding) {
  return std::any_of(switches.may_fit.begin(), switches.may_fit.end(), [&](const Choice& choice) {
    return choice.group->lean && kind_of(*choice.sharding) == kind_of(sharding) &&
           fits_with(layout, *choice.group, split, *choice.sharding);
  });
}

// Does the rank that holds least fit?
bool Explorer::may_fit(const Layout& layout, const SwitchGroup& group, const Sharding& sharding) {
  std::uint64_t key = kept_bits(layout);
  key = key << 16U | static_cast<std::uint64_t>(layout.pp);
  key = key << 5U | kind_of(layout, sharding);
  key = key << 16U | group.policy;
  const auto [known, is_new] = may_fit_.try_emplace(key, false);
  if (is_new) {
    const Lightest& least = lightest(layout);
    Layout at = layout;
    at.recompute = group.recompute;
    space_.set(sharding, at);
    known->second = least.any &&
                    leaf_.least_with(at, least.layers, least.alive) <= space_.problem().available();
  }
  return known->second;
}

const Explorer::Switches& Explorer::switches_in(const Layout& layout) {
  const std::vector<SwitchGroup>& groups = space_.switches(layout);
  const auto [known, is_new] =
      switches_.try_emplace({layout.pp, kept_bits(layout), has_other_order(layout), &groups});
  if (is_new) {
    known->second.groups = &groups;
    fill(layout, known->second);
  }
  return known->second;
}

// May nothing computed again fit?
std::array<bool, Explorer::kShardingKinds> Explorer::fitting_plain(
    const Layout& layout, const std::vector<SwitchGroup>& groups) {
  std::array<bool, kShardingKinds> plain{};
  for (const SwitchGroup& group : groups) {
    if (!group.modules || *group.modules != 0) {
      continue;
    }
    for (const Sharding& sharding : group.shardings) {
      plain[kind_of(sharding)] = may_fit(layout, group, sharding);
    }
  }
  return plain;
}

void Explorer::fill(const Layout& layout, Switches& switches) {
  std::array<bool, kShardingKinds> whole{};  // may none or all layers fit?
  std::array<bool, kShardingKinds> asked{};
  const std::array<bool, kShardingKinds> plain = fitting_plain(layout, *switches.groups);
  unfit_.clear();
  const auto fits_least = [&](const SwitchGroup& group, const Sharding& sharding) {
    const std::size_t kind = kind_of(sharding);
    if (group.part) {
      return whole[kind] || !asked[kind];
    }
    const bool fits = (group.modules && plain[kind]) ||
                      (!is_known_unfit(group, sharding) && may_fit(layout, group, sharding));
    if (!fits) {
      note_unfit(group, sharding);
    }
    if (group.recompute.granularity != describe::Recompute::kSelective) {
      asked[kind] = true;
      whole[kind] = whole[kind] || fits;
    }
    return fits;
  };
  const auto see = [&](const SwitchGroup& group) {
    for (const Sharding& sharding : group.shardings) {
      const auto number = static_cast<double>(sharding.hidden.size());
      switches.count += number;
      if (fits_least(group, sharding)) {
        switches.may_fit.push_back({Seconds(), &group, &sharding});
      } else {
        switches.too_large += number;
      }
    }
  };
  // Sets of modules stand after their subsets; parts of a stage's layers come last.
  for (const SwitchGroup& group : std::views::reverse(*switches.groups)) {
    if (!group.part) {
      see(group);
    }
  }
  for (const SwitchGroup& group : *switches.groups) {
    if (group.part) {
      see(group);
    }
  }
}

bool Explorer::fits_plain(Layout& layout, const Switches& switches, std::size_t split,
                          const Sharding& sharding) {
  return std::ranges::any_of(switches.may_fit, [&](const Choice& choice) {
    return choice.group->modules && *choice.group->modules == 0 &&
           kind_of(*choice.sharding) == kind_of(sharding) &&
           fits_with(layout, *choice.group, split, *choice.sharding);
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
