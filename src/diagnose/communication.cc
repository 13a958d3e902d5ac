#include "diagnose/communication.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace sextant::diagnose {
namespace {

using metrics::CollectiveInstance;
using metrics::kNone;
using metrics::MatchedCollective;
using metrics::RankSummary;
using metrics::Summary;

std::int64_t duration_ns(const CollectiveInstance& one) {
  return one.end_ns - one.start_ns;
}

// Transfer of each instance of each rank; -1: no other rank shows it.
using Transfers = std::vector<std::vector<std::int64_t>>;

Transfers matched_transfers(const Summary& summary) {
  Transfers transfers;
  for (const RankSummary& rank : summary.ranks) {
    transfers.emplace_back(rank.instances.size(), -1);
  }
  for (const MatchedCollective& match : metrics::matched_collectives(summary)) {
    for (const metrics::SeenBy& seen : match.seen) {
      transfers[seen.rank_place][seen.instance_place] = match.transfer_ns();
    }
  }
  return transfers;
}

using Alike = std::tuple<std::uint32_t, std::optional<CollectiveOp>, std::optional<std::int64_t>>;

// The fastest of what is alike stands for what no other rank shows.
void fill_unmatched(const RankSummary& rank, std::vector<std::int64_t>& transfers) {
  std::map<Alike, std::int64_t> fastest;
  const auto key = [](const CollectiveInstance& one) {
    return Alike{one.group, one.op, one.bytes};
  };
  for (const CollectiveInstance& one : rank.instances) {
    const auto [at, is_new] = fastest.try_emplace(key(one), duration_ns(one));
    at->second = std::min(at->second, duration_ns(one));
  }
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    if (transfers[i] < 0) {
      transfers[i] = fastest.at(key(rank.instances[i]));
    }
  }
}

struct Kind {
  std::size_t axis = 0;
  std::optional<CollectiveOp> op;
  std::optional<std::int64_t> bytes;
  std::int64_t size = 0;  // of the group
  auto operator<=>(const Kind&) const = default;
};
// Partners as well connected as others take no more than a quarter longer for the same: where each
// has its place on a healthy fabric makes that much, a slow link more.
constexpr double kLongerByPlace = 1.25;

// An occurrence that takes twice as long as such operations usually take has trouble of its own.
constexpr double kSlowOccurrence = 2.0;

// Ranks that come by chance wait for less than half of what a message takes; who waits longer waits
// for someone who is late.
constexpr double kShortWait = 0.5;

// A group, or two ranks that send to each other: what shares links.
using Partners = std::tuple<std::vector<RankId>, std::optional<RankId>, std::optional<RankId>>;

class Measure {
 public:
  explicit Measure(const Scene& scene) : summary_(*scene.summary) {
    transfers_ = matched_transfers(summary_);
    for (const RankSummary& rank : summary_.ranks) {
      axes_.push_back(rank_axes(rank));
    }
    for (std::size_t i = 0; i < summary_.ranks.size(); ++i) {
      const bool has_matches =
          std::ranges::any_of(transfers_[i], [](std::int64_t one) { return one >= 0; });
      is_matched_.push_back(has_matches);
      fill_unmatched(summary_.ranks[i], transfers_[i]);
    }
    find_usual();
  }

  CommunicationTimes times() {
    CommunicationTimes times;
    for (AxisExposure* one : all(times)) {
      one->ranks.resize(summary_.ranks.size());
    }
    for (std::size_t i = 0; i < summary_.ranks.size(); ++i) {
      add_rank(i, times);
    }
    add_hideable(times);
    return times;
  }

 private:
  static std::vector<AxisExposure*> all(CommunicationTimes& times) {
    std::vector<AxisExposure*> list{&times.unknown};
    for (AxisExposure& one : times.axes) {
      list.push_back(&one);
    }
    return list;
  }
  [[nodiscard]] const GroupAxis& axis_of(std::size_t rank, const CollectiveInstance& one) const {
    return axes_[rank].of(one);
  }
  [[nodiscard]] Kind kind_of(std::size_t rank, const CollectiveInstance& one) const {
    const GroupAxis axis = axis_of(rank, one);
    const bool is_known = one.group < summary_.ranks[rank].groups.size();
    return {axis.axis ? static_cast<std::size_t>(*axis.axis) : step::kAxes, one.op, one.bytes,
            is_known
                ? static_cast<std::int64_t>(summary_.ranks[rank].groups[one.group].ranks.size())
                : 0};
  }

  static Partners partners_of(const RankSummary& rank, const CollectiveInstance& one) {
    return {one.group < rank.groups.size() ? rank.groups[one.group].ranks : std::vector<RankId>{},
            one.sender, one.receiver};
  }

  // What operations of a kind take among the partners with the fastest links, and who takes longer.
  void find_usual() {
    std::map<Kind, std::map<Partners, std::vector<std::int64_t>>> by_kind;
    for (std::size_t i = 0; i < summary_.ranks.size(); ++i) {
      const RankSummary& rank = summary_.ranks[i];
      for (std::size_t k = 0; k < rank.instances.size(); ++k) {
        const CollectiveInstance& one = rank.instances[k];
        by_kind[kind_of(i, one)][partners_of(rank, one)].push_back(transfers_[i][k]);
      }
    }
    for (auto& [kind, groups] : by_kind) {
      std::map<Partners, double> medians;
      for (auto& [partners, times] : groups) {
        const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
        std::nth_element(times.begin(), middle, times.end());
        medians[partners] = static_cast<double>(*middle);
      }
      const double least = std::ranges::min(medians | std::views::values);
      usual_[kind] = least;
      for (const auto& [partners, median] : medians) {
        if (median > kLongerByPlace * least) {
          slow_.insert({kind, partners});
        }
      }
    }
  }

  // What of it alone is no trouble of its partners' and none of this occurrence's: what would stand
  // alone if it took as long as among others, and at other times.
  [[nodiscard]] std::int64_t exposed_ns(std::size_t rank, std::size_t instance) const {
    const CollectiveInstance& one = summary_.ranks[rank].instances[instance];
    const Kind kind = kind_of(rank, one);
    const auto transfer = static_cast<double>(transfers_[rank][instance]);
    const double usual = usual_.at(kind);
    const bool is_slow = transfer > kSlowOccurrence * usual ||
                         slow_.contains({kind, partners_of(summary_.ranks[rank], one)});
    const double beyond = is_slow ? std::max(0.0, transfer - usual) : 0.0;
    return std::max<std::int64_t>(
        0, std::min(one.alone_ns, transfers_[rank][instance]) - static_cast<std::int64_t>(beyond));
  }

  void add_rank(std::size_t number, CommunicationTimes& times) {
    const RankSummary& rank = summary_.ranks[number];
    std::vector<std::int64_t> steps;
    for (const CollectiveInstance& one : rank.instances) {
      steps.push_back(one.step);
    }
    std::ranges::sort(steps);
    const auto count = std::ranges::unique(steps).begin() - steps.begin();
    for (std::size_t k = 0; k < rank.instances.size(); ++k) {
      const CollectiveInstance& one = rank.instances[k];
      const GroupAxis axis = axis_of(number, one);
      AxisExposure& into =
          axis.axis ? times.axes[static_cast<std::size_t>(*axis.axis)] : times.unknown;
      const std::int64_t exposed = exposed_ns(number, k);
      add_instance(number, k, exposed, 1_ns / static_cast<double>(count), into);
      into.is_seen = true;
      into.is_said = into.is_said && axis.is_said;
      into.is_matched = into.is_matched && is_matched_[number];
      if (exposed > 0) {
        note(number, k, exposed, into);
      }
    }
  }

  // Seconds a step that one nanosecond of all steps is: `share`.
  void add_instance(std::size_t number, std::size_t instance, std::int64_t exposed, Seconds share,
                    AxisExposure& into) {
    const RankSummary& rank = summary_.ranks[number];
    const CollectiveInstance& one = rank.instances[instance];
    ExposedTime& time = into.ranks[number];
    const double waited = static_cast<double>(one.alone_ns - exposed);
    const double longest = kShortWait * static_cast<double>(exposed);
    time.transfer += share * static_cast<double>(exposed);
    time.waiting += share * waited;
    time.late += waited > longest ? share * static_cast<double>(exposed) : Seconds();
    const timeline::Group group =
        one.group < rank.groups.size() ? rank.groups[one.group] : timeline::Group();
    standing_[{&into, group.name, group.ranks}][number] +=
        share * (static_cast<double>(exposed) + std::min(waited, longest));
  }

  // Messages between two ranks are the receiver's matter: who sends goes on beside it.
  void add_hideable(CommunicationTimes& times) {
    for (const auto& [key, by_rank] : standing_) {
      AxisExposure& axis = *std::get<0>(key);
      if (&axis != &times.axes[static_cast<std::size_t>(Axis::kPipeline)]) {
        axis.hideable = std::max(axis.hideable, std::ranges::min(by_rank | std::views::values));
      }
    }
    AxisExposure& pipeline = times.axes[static_cast<std::size_t>(Axis::kPipeline)];
    for (const ExposedTime& rank : pipeline.ranks) {
      pipeline.hideable = std::max(pipeline.hideable, rank.transfer);
    }
  }

  void note(std::size_t rank, std::size_t instance, std::int64_t exposed, AxisExposure& into) {
    const auto& op = summary_.ranks[rank].instances[instance].op;
    if (op) {
      into.ops[static_cast<std::size_t>(*op)] = true;
    }
    const ExposedInstance one{static_cast<std::uint32_t>(rank),
                              static_cast<std::uint32_t>(instance), exposed};
    const auto at = std::ranges::upper_bound(
        into.longest, -exposed, {}, [](const ExposedInstance& other) { return -other.exposed_ns; });
    into.longest.insert(at, one);
    if (into.longest.size() > kMostEvidence) {
      into.longest.pop_back();
    }
  }

  const Summary& summary_;
  Transfers transfers_;
  std::vector<RankAxes> axes_;    // by rank
  std::vector<bool> is_matched_;  // by rank
  std::map<Kind, double> usual_;  // ns
  std::set<std::pair<Kind, Partners>> slow_;
  // What each rank of a group stands in its communication, waiting for stragglers apart.
  std::map<std::tuple<AxisExposure*, std::string, std::vector<RankId>>,
           std::map<std::size_t, Seconds>>
      standing_;
};

}  // namespace

Seconds AxisExposure::mean_waiting() const {
  Seconds sum;
  for (const ExposedTime& rank : ranks) {
    sum += rank.waiting;
  }
  return ranks.empty() ? sum : sum / static_cast<double>(ranks.size());
}

CommunicationTimes communication_times(const Scene& scene) {
  return Measure(scene).times();
}

}  // namespace sextant::diagnose
