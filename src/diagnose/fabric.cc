#include "diagnose/fabric.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "cost/comm/collective_time.h"
#include "diagnose/medians.h"
#include "diagnose/rank_rules.h"
#include "machine/collective_estimate.h"

namespace sextant::diagnose {
namespace {

using metrics::CollectiveInstance;
using metrics::RankSummary;
using metrics::Summary;

// How the ranks of a collective lie: as many in a row with a stride as the estimator asks for them.
struct GroupPlace {
  std::int64_t ranks = 0;
  std::int64_t stride = 1;
  auto operator<=>(const GroupPlace&) const = default;
};

// Groups inside of one domain are alike wherever in it they lie. Nothing where steps differ.
std::optional<GroupPlace> place_of_ranks(std::vector<RankId> ranks, std::int64_t domain) {
  std::ranges::sort(ranks);
  const auto count = static_cast<std::int64_t>(ranks.size());
  if (count < 2 || ranks.front().value < 0) {
    return std::nullopt;
  }
  if (ranks.front().value / domain == ranks.back().value / domain) {
    return GroupPlace{count, 1};
  }
  const std::int64_t stride = ranks[1].value - ranks[0].value;
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (ranks[i].value - ranks[i - 1].value != stride || stride == 0) {
      return std::nullopt;
    }
  }
  // Two that lie side by side across the border of domains share none.
  return GroupPlace{count, count == 2 ? std::max(stride, domain) : stride};
}

// `met`: whose profiles show it.
std::optional<GroupPlace> place_of(const RankSummary& rank, const CollectiveInstance& one,
                                   const std::vector<RankId>& met, std::int64_t domain) {
  if (one.sender && one.receiver) {
    return place_of_ranks({*one.sender, *one.receiver}, domain);
  }
  const timeline::Group group =
      one.group < rank.groups.size() ? rank.groups[one.group] : timeline::Group();
  if (!group.ranks.empty()) {
    return place_of_ranks(group.ranks, domain);
  }
  // All ranks of the job need no list, nor do those that all are seen to meet.
  const std::optional<std::int64_t> size = group.size ? group.size : rank.world;
  if (size && static_cast<std::int64_t>(met.size()) == *size) {
    return place_of_ranks(met, domain);
  }
  return group.size && rank.world && *group.size == *rank.world && *group.size > 1
             ? std::optional(GroupPlace{*group.size, 1})
             : std::nullopt;
}

using FabricKey = std::tuple<CollectiveOp, GroupPlace, std::int64_t, bool>;  // bytes, is matched

class FabricReader {
 public:
  FabricReader(const Scene& scene, const describe::Cluster& cluster,
               const describe::DataStore& data)
      : summary_(*scene.summary),
        cluster_(cluster),
        domain_(std::max<std::int64_t>(1, machine::reach_without_network(cluster))),
        estimator_(data) {}

  FabricView view() {
    view_.cluster = cluster_.name;
    view_.device = cluster_.device.id;
    read_matched();
    read_single();
    for (auto& [key, instances] : by_key_) {
      add_row(key, std::move(instances));
    }
    std::ranges::stable_sort(view_.rows, std::greater<>(), [](const FabricRow& row) {
      return row.transfer / 1_s * static_cast<double>(row.count);
    });
    return std::move(view_);
  }

 private:
  void leave_out(std::int64_t count, std::string reason) {
    view_.left_out += count;
    if (view_.reason.empty()) {
      view_.reason = std::move(reason);
    }
  }

  void note(std::uint32_t rank, std::uint32_t instance, std::int64_t transfer_ns,
            const std::vector<RankId>& met) {
    const CollectiveInstance& one = summary_.ranks[rank].instances[instance];
    if (!one.op || !one.bytes || *one.bytes <= 0) {
      return leave_out(1, "their operation or size was not recorded");
    }
    const auto place = place_of(summary_.ranks[rank], one, met, domain_);
    if (!place) {
      return leave_out(1, "which ranks they join was not recorded, or these lie in no row");
    }
    const FabricKey key{*one.op, *place, *one.bytes, !met.empty()};
    if (!by_key_.contains(key) && by_key_.size() >= kMostFabricRows) {
      return leave_out(1, "more sizes than are told apart");
    }
    by_key_[key].push_back({rank, instance, transfer_ns});
  }

  void read_matched() {
    for (const metrics::MatchedCollective& match : metrics::matched_collectives(summary_)) {
      std::vector<RankId> met;
      for (const metrics::SeenBy& seen : match.seen) {
        met.push_back(seen.rank);
      }
      for (const metrics::SeenBy& seen : match.seen) {
        matched_.insert({seen.rank_place, seen.instance_place});
        note(seen.rank_place, seen.instance_place, match.transfer_ns(), met);
      }
    }
  }

  void read_single() {
    for (std::uint32_t rank = 0; rank < summary_.ranks.size(); ++rank) {
      const auto& instances = summary_.ranks[rank].instances;
      for (std::uint32_t k = 0; k < instances.size(); ++k) {
        if (!matched_.contains({rank, k})) {
          note(rank, k, instances[k].end_ns - instances[k].start_ns, {});
        }
      }
    }
  }

  void add_row(const FabricKey& key, std::vector<FabricInstance> instances) {
    const auto& [op, place, bytes, is_matched] = key;
    const auto estimate = estimator_({.cluster = cluster_,
                                      .op = op,
                                      .bytes = Bytes(static_cast<double>(bytes)),
                                      .ranks = place.ranks,
                                      .stride = place.stride,
                                      .links = std::nullopt});
    const auto count = static_cast<std::int64_t>(instances.size());
    if (!estimate) {
      return leave_out(count, estimate.error().what);
    }
    const double spread = estimate->spread.value_or(0.0);
    if (spread < 1.0 || estimate->time <= Seconds()) {
      return leave_out(count, "no interval of the model is known for them");
    }
    std::vector<std::int64_t> times;
    for (const FabricInstance& one : instances) {
      times.push_back(one.transfer_ns);
    }
    const std::int64_t middle = is_matched ? lower_median(times) : std::ranges::min(times);
    view_.rows.push_back({.op = op,
                          .ranks = place.ranks,
                          .domains = estimate->group.domains,
                          .bytes = Bytes(static_cast<double>(bytes)),
                          .count = count,
                          .is_matched = is_matched,
                          .transfer = static_cast<double>(std::max<std::int64_t>(1, middle)) * 1_ns,
                          .expected = estimate->time,
                          .spread = spread,
                          .instances = std::move(instances)});
  }

  const Summary& summary_;
  const describe::Cluster& cluster_;
  std::int64_t domain_;
  machine::CollectiveEstimator estimator_;
  std::map<FabricKey, std::vector<FabricInstance>> by_key_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> matched_;
  FabricView view_;
};

std::int64_t steps_of(const RankSummary& rank) {
  std::set<std::int64_t> steps;
  for (const CollectiveInstance& one : rank.instances) {
    steps.insert(one.step);
  }
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(steps.size()));
}

// Of a mean step of each rank: what stands alone of slow rows beyond what is expected.
std::vector<Seconds> excess_of_ranks(const Summary& summary, const FabricView& fabric) {
  std::vector<Seconds> excess(summary.ranks.size());
  for (const FabricRow& row : fabric.rows) {
    if (!row.falls_short()) {
      continue;
    }
    for (const FabricInstance& one : row.instances) {
      const CollectiveInstance& seen = summary.ranks[one.rank].instances[one.instance];
      const Seconds transfer =
          row.is_matched ? static_cast<double>(one.transfer_ns) * 1_ns : row.transfer;
      const Seconds alone = static_cast<double>(seen.alone_ns) * 1_ns;
      excess[one.rank] += std::max(Seconds(), std::min(alone, transfer - row.expected));
    }
  }
  for (std::size_t rank = 0; rank < excess.size(); ++rank) {
    excess[rank] = excess[rank] / static_cast<double>(steps_of(summary.ranks[rank]));
  }
  return excess;
}

std::string_view op_word(CollectiveOp op) {
  const auto* const word =
      std::ranges::find(kCollectiveOpWords, op, &std::pair<CollectiveOp, std::string_view>::first);
  return word->second;
}

std::string shortfall_text(const FabricRow& row) {
  return fmt::format(
      "{} of {} over {} ranks reaches {} on the bus where {} are expected, {} at "
      "least",
      op_word(row.op), to_text(row.bytes), row.ranks, to_text(row.achieved_bus()),
      to_text(row.expected_bus()), to_text(row.least_bus()));
}

std::vector<Evidence> slow_evidence(const Summary& summary, const FabricView& fabric) {
  std::vector<Evidence> evidence;
  for (const FabricRow& row : fabric.rows) {
    if (!row.falls_short() || evidence.size() == kMostEvidence) {
      continue;
    }
    const FabricInstance& longest =
        *std::ranges::max_element(row.instances, {}, &FabricInstance::transfer_ns);
    const RankSummary& rank = summary.ranks[longest.rank];
    const CollectiveInstance& one = rank.instances[longest.instance];
    evidence.push_back({rank.rank, {one.start_ns, one.end_ns}, shortfall_text(row)});
  }
  return evidence;
}

}  // namespace

BytesPerSecond FabricRow::achieved_bus() const {
  return cost::bus_bandwidth(op, bytes, ranks, transfer);
}
BytesPerSecond FabricRow::expected_bus() const {
  return cost::bus_bandwidth(op, bytes, ranks, expected);
}
BytesPerSecond FabricRow::least_bus() const {
  return cost::bus_bandwidth(op, bytes, ranks, expected * spread);
}

Result<FabricView> fabric_view(const Scene& scene, const describe::Cluster& cluster,
                               const describe::DataStore& data) {
  SEXTANT_CHECK_OK(describe::comm_spread(data));
  return FabricReader(scene, cluster, data).view();
}

Findings fabric_findings(const Scene& scene, const FabricView& fabric) {
  Findings answer;
  if (scene.device && !fabric.device.empty() && scene.device->id != fabric.device) {
    answer.notes.push_back(fmt::format("collectives of {} are held against {}, which has {}",
                                       scene.device->id, fabric.cluster, fabric.device));
  }
  const std::vector<Seconds> excess = excess_of_ranks(*scene.summary, fabric);
  const Seconds exposed = scene.parts[static_cast<std::size_t>(StepPart::kExposedCommunication)];
  const Seconds lost = excess.empty() ? Seconds() : std::min(std::ranges::max(excess), exposed);
  const auto slow = std::ranges::find_if(fabric.rows, &FabricRow::falls_short);
  if (slow == fabric.rows.end() || lost < kWorthSaying * scene.step) {
    return answer;
  }
  const bool is_matched = std::ranges::all_of(
      fabric.rows, [](const FabricRow& row) { return row.is_matched || !row.falls_short(); });
  Finding finding;
  finding.rule = "slow-collective";
  finding.cause = fmt::format(
      "collectives fall short of what {} should reach: {}{}", fabric.cluster, shortfall_text(*slow),
      is_matched ? "" : "; one rank alone can't tell transfer from waiting for peers");
  finding.per_step = lost;
  finding.parts[static_cast<std::size_t>(StepPart::kExposedCommunication)] = lost;
  finding.status = is_matched ? Status::kVerified : Status::kInferred;
  finding.evidence = slow_evidence(*scene.summary, fabric);
  answer.found.push_back(std::move(finding));
  return answer;
}

void abstain_without_fabric(const Scene& scene, const std::vector<Finding>& found,
                            std::vector<Abstention>& abstained) {
  const auto is_sized = [](const CollectiveInstance& one) { return one.op && one.bytes; };
  const bool can_ask = std::ranges::any_of(scene.summary->ranks, [&](const RankSummary& rank) {
    return rank.has_device && std::ranges::any_of(rank.instances, is_sized);
  });
  const auto speaks = [](const auto& one) { return one.rule == "slow-collective"; };
  if (can_ask && std::ranges::none_of(found, speaks) && std::ranges::none_of(abstained, speaks)) {
    abstained.push_back(
        {"slow-collective", "the cluster that it ran on, whose fabric says what to expect"});
  }
}

}  // namespace sextant::diagnose
