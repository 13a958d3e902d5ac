// Which instances of different ranks are one collective.
#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

#include "metrics/summary.h"

namespace sextant::metrics {
namespace {

using timeline::Group;

constexpr std::int64_t kNotSaid = std::numeric_limits<std::int64_t>::min();

// What makes two instances of different ranks the same collective. Counted ones are told by their
// step too, those of no known group by what the source calls them, messages by their ends.
struct MatchKey {
  std::uint32_t group = kNone;  // place in GroupNumbers' order
  std::uint32_t name = kNone;
  std::int64_t step = kNotSaid;
  std::int64_t sequence = 0;
  std::int32_t op = -1;
  std::int64_t sender = kNotSaid;
  std::int64_t receiver = kNotSaid;
  auto operator<=>(const MatchKey&) const = default;
};

struct MatchEntry {
  MatchKey key;
  std::uint32_t rank = 0;
  std::uint32_t instance = 0;
  auto operator<=>(const MatchEntry&) const = default;
};

// A number for each group and each name of the job, in order.
class JobNumbers {
 public:
  explicit JobNumbers(const Summary& summary) {
    for (const RankSummary& rank : summary.ranks) {
      for (const Group& group : rank.groups) {
        groups_.try_emplace(key_of(group), 0);
      }
      for (const std::string& name : rank.names) {
        names_.try_emplace(name, 0);
      }
    }
    const auto count = [](auto& numbers) {
      std::uint32_t next = 0;
      for (auto& [key, number] : numbers) {
        number = next++;
      }
    };
    count(groups_);
    count(names_);
  }
  [[nodiscard]] std::vector<std::uint32_t> groups_of(const RankSummary& rank) const {
    std::vector<std::uint32_t> numbers;
    for (const Group& group : rank.groups) {
      numbers.push_back(groups_.at(key_of(group)));
    }
    return numbers;
  }
  [[nodiscard]] std::vector<std::uint32_t> names_of(const RankSummary& rank) const {
    std::vector<std::uint32_t> numbers;
    for (const std::string& name : rank.names) {
      numbers.push_back(names_.at(name));
    }
    return numbers;
  }

 private:
  using GroupKey = std::tuple<std::string_view, std::vector<RankId>>;
  static GroupKey key_of(const Group& group) { return {group.name, group.ranks}; }
  std::map<GroupKey, std::uint32_t> groups_;
  std::map<std::string_view, std::uint32_t> names_;
};

std::int64_t ranks_of_job(const Summary& summary) {
  auto ranks = static_cast<std::int64_t>(summary.ranks.size());
  for (const RankSummary& rank : summary.ranks) {
    ranks = std::max(ranks, rank.world.value_or(0));
  }
  return ranks;
}

// A message whose ends are not said could be any two ranks' of its group, unless there are but two.
bool is_anyones(const RankSummary& rank, const CollectiveInstance& one, std::int64_t job_ranks) {
  if (one.op != CollectiveOp::kSendReceive || (one.sender && one.receiver)) {
    return false;
  }
  if (rank.is_whole_job || one.group >= rank.groups.size()) {
    return !rank.is_whole_job && job_ranks > 2;
  }
  const Group& group = rank.groups[one.group];
  return group.size.value_or(static_cast<std::int64_t>(group.ranks.size())) != 2;
}

std::vector<MatchEntry> entries_of(const Summary& summary) {
  const JobNumbers numbers(summary);
  const std::int64_t job_ranks = ranks_of_job(summary);
  std::vector<MatchEntry> entries;
  std::size_t count = 0;
  for (const RankSummary& rank : summary.ranks) {
    count += rank.instances.size();
  }
  entries.reserve(count);
  for (std::size_t i = 0; i < summary.ranks.size(); ++i) {
    const RankSummary& rank = summary.ranks[i];
    const std::vector<std::uint32_t> groups = numbers.groups_of(rank);
    const std::vector<std::uint32_t> names = numbers.names_of(rank);
    for (std::size_t k = 0; k < rank.instances.size(); ++k) {
      const CollectiveInstance& one = rank.instances[k];
      if (is_anyones(rank, one, job_ranks)) {
        continue;
      }
      MatchKey key{.sequence = one.sequence};
      if (one.group < groups.size()) {
        key.group = groups[one.group];
      } else if (one.name < names.size()) {
        key.name = names[one.name];
      }
      key.step = one.is_counted ? one.step : kNotSaid;
      key.op = one.op ? static_cast<std::int32_t>(*one.op) : -1;
      key.sender = one.sender ? one.sender->value : kNotSaid;
      key.receiver = one.receiver ? one.receiver->value : kNotSaid;
      entries.push_back({key, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(k)});
    }
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

MatchedCollective begun_with(const Summary& summary, const MatchEntry& entry) {
  const RankSummary& rank = summary.ranks[entry.rank];
  const CollectiveInstance& one = rank.instances[entry.instance];
  MatchedCollective match;
  match.group = one.group < rank.groups.size() ? &rank.groups[one.group] : nullptr;
  match.step = one.step;
  match.sequence = one.sequence;
  match.op = one.op;
  match.bytes = one.bytes;
  return match;
}

}  // namespace

std::int64_t MatchedCollective::transfer_ns() const {
  std::int64_t least = seen.empty() ? 0 : seen.front().end_ns - seen.front().start_ns;
  for (const SeenBy& one : seen) {
    least = std::min(least, one.end_ns - one.start_ns);
  }
  return least;
}

std::vector<MatchedCollective> matched_collectives(const Summary& summary) {
  const std::vector<MatchEntry> entries = entries_of(summary);
  std::vector<MatchedCollective> matches;
  for (std::size_t from = 0; from < entries.size();) {
    std::size_t to = from;
    MatchedCollective match = begun_with(summary, entries[from]);
    for (; to < entries.size() && entries[to].key == entries[from].key; ++to) {
      const RankSummary& rank = summary.ranks[entries[to].rank];
      const CollectiveInstance& one = rank.instances[entries[to].instance];
      // A number that comes again on a rank is another collective: the first stands.
      if (match.seen.empty() || match.seen.back().rank != rank.rank) {
        match.seen.push_back({rank.rank, entries[to].rank, entries[to].instance, one.start_ns,
                              one.end_ns, one.asked_ns});
      }
    }
    if (match.seen.size() > 1) {
      matches.push_back(std::move(match));
    }
    from = to;
  }
  return matches;
}

}  // namespace sextant::metrics
