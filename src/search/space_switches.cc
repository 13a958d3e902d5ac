// Which switches of a layout go together: recomputation, sharding, what is hidden.
#include <algorithm>
#include <bit>
#include <iterator>

#include "base/integers.h"
#include "describe/layout/framework_rules.h"
#include "search/mesh_orders.h"
#include "search/space.h"
#include "search/splits.h"
#include "workload/traffic_scene.h"

namespace sextant::search {
namespace {

using describe::Layout;
using describe::Overlap;
using describe::Schedule;
using describe::Zero;

// Recomputing more modules never needs more memory; a number of layers needs no less than none or
// all of them.
bool is_lean(const describe::RecomputePolicy& policy,
             const std::vector<describe::RecomputePolicy>& all) {
  using describe::Recompute;
  if (policy.granularity != Recompute::kSelective) {
    return policy.layers == 0;
  }
  return std::none_of(all.begin(), all.end(), [&](const describe::RecomputePolicy& other) {
    return other.granularity == Recompute::kSelective && other.modules != policy.modules &&
           std::includes(other.modules.begin(), other.modules.end(), policy.modules.begin(),
                         policy.modules.end());
  });
}

std::optional<std::uint32_t> modules_of(const describe::RecomputePolicy& policy) {
  if (policy.granularity == describe::Recompute::kFull) {
    return std::nullopt;
  }
  std::uint32_t bits = 0;
  for (const describe::RecomputeModule module : policy.modules) {
    if (module == describe::RecomputeModule::kEverySecondLayer ||
        module == describe::RecomputeModule::kEverySecondProduct) {
      return std::nullopt;
    }
    bits |= 1U << static_cast<unsigned>(module);
  }
  return bits;
}

}  // namespace

std::uint8_t bits_of(const std::vector<Overlap>& hidden) {
  unsigned bits = 0;
  for (const Overlap what : hidden) {
    bits |= 1U << static_cast<unsigned>(what);
  }
  return static_cast<std::uint8_t>(bits);
}

void HiddenSets::add(const std::vector<Overlap>& hidden) {
  bits_.push_back(bits_of(hidden));
}

bool HiddenSets::has(const std::vector<Overlap>& hidden) const {
  return std::find(bits_.begin(), bits_.end(), bits_of(hidden)) != bits_.end();
}

void HiddenSets::sort() {
  std::stable_sort(bits_.begin(), bits_.end(), [](std::uint8_t a, std::uint8_t b) {
    return std::popcount(a) > std::popcount(b);
  });
}

namespace {

std::vector<Overlap> overlaps_of(std::size_t bits) {
  std::vector<Overlap> set;
  for (const auto& [what, word] : describe::kOverlapWords) {
    if ((bits >> static_cast<unsigned>(what) & 1U) != 0) {
      set.push_back(what);
    }
  }
  return set;
}

std::vector<std::vector<Overlap>> all_overlaps() {
  std::vector<std::vector<Overlap>> sets;
  for (std::size_t bits = 0; bits < std::size_t{1} << describe::kOverlapWords.size(); ++bits) {
    sets.push_back(overlaps_of(bits));
  }
  return sets;
}

}  // namespace

const std::vector<Overlap>& hidden_set(std::uint8_t of_bits) {
  static const std::vector<std::vector<Overlap>> kSets = all_overlaps();
  return kSets[of_bits];
}

bool Space::has_replicas(const Layout& layout) const {
  const std::int64_t ranks = problem_.job.cluster.devices / layout.pp;
  return ranks / layout.tp > 1 || ranks / (layout.ep * layout.etp) > 1;
}

// Ranks of a scale-up domain that hold the same part of the model; 0 where sharding over them is
// not a choice of its own.
std::int64_t Space::inside_group(const Layout& layout) const {
  const std::int64_t domain = problem_.machine.domain_size;
  const std::int64_t all = problem_.job.cluster.devices / (layout.pp * layout.tp);  // dp * cp
  if (choices_.zero_groups && choices_.mesh) {
    return group_inside_slice(problem_, layout);
  }
  if (!choices_.zero_groups || domain % layout.tp != 0) {
    return 0;
  }
  const std::int64_t inside = domain / layout.tp;
  return inside > 1 && inside < all && all % inside == 0 ? inside : 0;
}

bool Space::allows_inside(const Layout& layout) {
  const std::size_t order = choices_.mesh ? place_of(layout.order) : 0;
  std::optional<bool>& known =
      facts_of(layout).inside[place_of(layout.pp) * choices_.orders.size() + order];
  if (!known) {
    known = ask_inside(layout);
  }
  return *known;
}

bool Space::ask_inside(const Layout& layout) {
  const std::int64_t group = inside_group(layout);
  if (group == 0) {
    return false;
  }
  job_.layout = layout;
  job_.layout.zero = choices_.zero.front();
  job_.layout.zero_group = group;
  job_.layout.recompute = {};
  job_.layout.overlap = choices_.always;
  // Not asked here: whether the batch fits the pipeline.
  job_.layout.pp = 1;
  job_.layout.vpp = 1;
  job_.layout.schedule = Schedule::k1f1b;
  job_.cluster.devices = problem_.job.cluster.devices / layout.pp;
  job_.global_batch = saturating_product({job_.dp(), layout.mbs});
  const bool allowed = describe::framework_allows(job_);
  job_.cluster.devices = problem_.job.cluster.devices;
  job_.global_batch = problem_.job.global_batch;
  return allowed;
}

void Space::set(const Sharding& sharding, Layout& layout) const {
  layout.zero = sharding.zero;
  layout.reshard_after_forward = sharding.reshard;
  layout.zero_group = sharding.inside                   ? inside_group(layout)
                      : problem_.is_fixed("zero_group") ? problem_.job.layout.zero_group
                                                        : 0;
}

Space::SwitchKey Space::variant_bits(const Layout& layout) {
  return (layout.sp ? 1U : 0U) | static_cast<SwitchKey>(layout.cp_method) << 1U |
         static_cast<SwitchKey>(layout.dispatcher) << 4U |
         static_cast<SwitchKey>(layout.launch) << 7U;
}

Space::SwitchKey Space::shape_bits(const Layout& layout) {
  const Layout& at = layout;
  const std::int64_t layers = problem_.job.model.layer_count();
  SwitchKey key = 0;
  const auto add = [&key](std::int64_t value, unsigned bits) {
    key = key << bits | static_cast<SwitchKey>(value);
  };
  const auto flag = [&add](bool is_set) { add(is_set ? 1 : 0, 1); };
  flag(at.tp > 1);
  flag(at.cp > 1);
  flag(at.ep > 1);
  flag(at.etp > 1);
  flag(describe::leaves_domain(problem_.job.cluster, at.tp));
  add(std::min<std::int64_t>(at.pp, 3), 2);
  flag(at.vpp > 1);
  add(static_cast<std::int64_t>(at.schedule), 4);
  flag(has_replicas(at));
  flag(allows_inside(at));
  flag(problem_.job.cluster.devices / (at.pp * at.tp * at.cp) > 1);
  add(choices_.recomputes_some ? (layers + at.stages() - 1) / at.stages() : 0, kLayerBits);
  return key;
}

Space::SwitchKey Space::key_of(const Layout& layout) {
  return variant_bits(layout) << kShapeBits | shape_bits(layout);
}

const std::vector<SwitchGroup>& Space::switches(const Layout& layout) {
  const SwitchKey key = key_of(layout);
  const auto found = switches_.find(key);
  if (found != switches_.end()) {
    return *found->second;
  }
  return *switches_.emplace(key, the_one(make_switches(layout))).first->second;
}

const Space::SwitchList& Space::the_one(std::vector<SwitchGroup> list) {
  double count = 0.0;
  for (const SwitchGroup& group : list) {
    count += group.count * static_cast<double>(group.recompute.layers + 1);
  }
  const std::size_t hash = std::hash<double>()(count) + list.size();
  const auto [first, last] = switch_lists_.equal_range(hash);
  const auto known =
      std::find_if(first, last, [&](const auto& entry) { return *entry.second == list; });
  if (known != last) {
    return known->second;
  }
  return switch_lists_
      .emplace(hash, std::make_shared<const std::vector<SwitchGroup>>(std::move(list)))
      ->second;
}

bool Space::matters(Overlap what, const Layout& layout) const {
  switch (what) {
    case Overlap::kGradReduce:
      return has_replicas(layout);
    case Overlap::kParamGather:
      return has_replicas(layout) && layout.zero != Zero::kNone;
    case Overlap::kTensorParallel:
      return layout.tp > 1;
    case Overlap::kPipeline:
      // Megatron switches it off where a rank has one chunk (MEGATRON-P2P-OVERLAP).
      return layout.pp > 1 &&
             (layout.vpp > 1 || problem_.job.framework != describe::Framework::kMegatronCore);
    case Overlap::kExpert:
      return layout.ep > 1;
    case Overlap::kContext:
      return layout.cp > 1;
  }
  return false;
}

HiddenSets Space::hidden_sets(describe::Job& job) const {
  Layout& at = job.layout;
  std::vector<Overlap> free;
  std::copy_if(choices_.switches.begin(), choices_.switches.end(), std::back_inserter(free),
               [&](Overlap what) { return matters(what, at); });
  HiddenSets sets;
  for (std::uint32_t set_of = 0; set_of < (1U << free.size()); ++set_of) {
    at.overlap = choices_.always;
    for (std::size_t i = 0; i < free.size(); ++i) {
      if ((set_of >> i & 1U) != 0) {
        at.overlap.push_back(free[i]);
      }
    }
    std::sort(at.overlap.begin(), at.overlap.end());
    if (describe::framework_allows(job)) {
      sets.add(at.overlap);
    }
  }
  sets.sort();
  return sets;
}

// Ways to keep states that make a difference, without what is hidden.
std::vector<Sharding> Space::sharding_ways(const Layout& layout) {
  const bool replicas = has_replicas(layout);
  std::vector<Sharding> list;
  for (const Zero zero : choices_.zero) {
    if (!replicas && zero != choices_.zero.front()) {
      continue;  // nothing to spread over
    }
    const bool keeps = zero == Zero::kParameters && replicas;
    const bool inside = replicas && zero != Zero::kNone && allows_inside(layout);
    const std::vector<bool> places =
        inside ? std::vector<bool>{false, true} : std::vector<bool>{false};
    const std::vector<bool> freed =
        keeps ? choices_.reshard : std::vector<bool>(1, choices_.reshard.front());
    for (const bool within : places) {
      for (const bool reshard : freed) {
        list.push_back({zero, within, reshard, {}});
      }
    }
  }
  return list;
}

// Ways to keep states and to hide messages that the framework allows for the job's recomputation.
std::vector<Sharding> Space::make_shardings(describe::Job& job) {
  std::vector<Sharding> list = sharding_ways(job.layout);
  for (Sharding& sharding : list) {
    set(sharding, job.layout);
    sharding.hidden = hidden_sets(job);
  }
  std::erase_if(list, [](const Sharding& sharding) { return sharding.hidden.empty(); });
  return list;
}

std::vector<SwitchGroup> Space::make_switches(const Layout& layout) {
  describe::Job job = problem_.job;
  job.layout = layout;
  // A batch that every schedule can run: whether the problem's is one depends on the pipeline.
  job.global_batch = saturating_product({job.dp(), layout.mbs, layout.pp, layout.vpp});
  std::vector<describe::RecomputePolicy> policies = choices_.recompute;
  if (choices_.recomputes_some) {
    add_part_policies(job.model.layer_count(), layout.stages(), policies);
  }
  std::vector<SwitchGroup> groups;
  // Rules ask of a policy whether whole layers run again, and whether experts do.
  std::map<std::pair<describe::Recompute, bool>, std::vector<Sharding>> known;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    job.layout.recompute = policies[i];
    const auto& modules = policies[i].modules;
    const bool experts =
        std::find(modules.begin(), modules.end(), describe::RecomputeModule::kMoe) != modules.end();
    const auto [shardings, is_new] = known.try_emplace({policies[i].granularity, experts});
    if (is_new) {
      shardings->second = make_shardings(job);
    }
    SwitchGroup group{.recompute = policies[i],
                      .policy = i < choices_.recompute.size() ? i : SwitchGroup::kNoPolicy,
                      .part = workload::counts_layers(policies[i]),
                      .lean = is_lean(policies[i], policies),
                      .modules = modules_of(policies[i]),
                      .shardings = shardings->second};
    for (const Sharding& sharding : group.shardings) {
      group.count += static_cast<double>(sharding.hidden.size());
    }
    if (!group.shardings.empty()) {
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

}  // namespace sextant::search
