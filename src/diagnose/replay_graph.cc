#include "diagnose/replay_graph.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "diagnose/found_groups.h"
#include "diagnose/replay_order.h"
#include "diagnose/stages.h"

namespace sextant::diagnose {
namespace {

using metrics::CollectiveInstance;
using metrics::kNone;
using metrics::OwnWork;
using metrics::RankSummary;
using metrics::Summary;

constexpr std::int64_t kAllSteps = std::numeric_limits<std::int64_t>::max();

// The last step that a list holds whole. A list that was cut to its room ends with a whole step,
// because the next one found no place; steps are alike, so one of twice the longest would have to.
// Nothing where the first alone was too much: then the list is full.
template <typename OfStep>
std::optional<std::int64_t> last_whole(const std::vector<OfStep>& all, std::size_t room) {
  std::size_t longest = 0;
  std::size_t length = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    length = i > 0 && all[i].step == all[i - 1].step ? length + 1 : 1;
    longest = std::max(longest, length);
  }
  if (all.size() + 2 * longest <= room) {
    return kAllSteps;
  }
  return all.size() >= room && longest == all.size() ? std::nullopt
                                                     : std::optional(all.back().step);
}

std::vector<std::int64_t> whole_steps(const RankSummary& rank) {
  const auto work = last_whole(rank.work, metrics::kMostSummaryWork);
  const auto met = last_whole(rank.instances, metrics::kMostSummaryInstances);
  std::vector<std::int64_t> steps;
  for (const metrics::StepMeasures& step : rank.steps) {
    if (work && met && step.number <= std::min(*work, *met) &&
        (steps.empty() || steps.back() != step.number)) {
      steps.push_back(step.number);
    }
  }
  return steps;
}

struct StepChoice {
  std::vector<std::int64_t> numbers;
  std::int64_t left_out = 0;
};

// In all ranks; of too many, as many as there is room for, evenly.
StepChoice common_steps(const Summary& summary) {
  std::map<std::int64_t, std::size_t> seen;
  std::size_t nodes = 0;
  for (const RankSummary& rank : summary.ranks) {
    for (const std::int64_t step : whole_steps(rank)) {
      seen[step] += 1;
    }
    nodes += rank.work.size() + rank.instances.size();
  }
  StepChoice choice;
  for (const auto& [step, ranks] : seen) {
    if (ranks == summary.ranks.size()) {
      choice.numbers.push_back(step);
    }
  }
  const std::size_t all = choice.numbers.size();
  if (nodes > kMostReplayNodes && all > 1) {
    const std::size_t keep = std::max<std::size_t>(1, all * kMostReplayNodes / nodes);
    for (std::size_t i = 0; i < keep; ++i) {
      choice.numbers[i] = choice.numbers[i * all / keep];
    }
    choice.numbers.resize(keep);
  }
  choice.left_out = static_cast<std::int64_t>(seen.size() - choice.numbers.size());
  return choice;
}

// Numbers for what makes nodes of one type.
class TypeTable {
 public:
  using Key = std::tuple<int, std::int64_t, std::int64_t, std::int64_t>;
  std::uint32_t number(const Key& key) {
    return types_.try_emplace(key, static_cast<std::uint32_t>(types_.size())).first->second;
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(types_.size()); }

 private:
  std::map<Key, std::uint32_t> types_;
};

// What a rank communicates in a step, by operation and its end of a message: ranks alike in it do
// the same work, those of other stages do not.
using Habit = std::array<std::int64_t, std::size_t{3} * 8>;

class GraphBuilder {
 public:
  GraphBuilder(const Summary& summary, const Meetings& meetings)
      : summary_(summary),
        meetings_(meetings),
        work_at_(summary.ranks.size()),
        instance_at_(summary.ranks.size()) {
    graph_.summary = &summary;
    number_names();
    place_meetings();
    stages_ = stages_of(summary, meetings);
  }

  ReplayGraph take() {
    const StepChoice steps = common_steps(summary_);
    graph_.steps_left_out = steps.left_out;
    graph_.dependency_start.push_back(0);
    for (const std::int64_t step : steps.numbers) {
      graph_.steps.push_back({.number = step, .first = size()});
      for (std::uint32_t rank = 0; rank < summary_.ranks.size(); ++rank) {
        add_rank(step, rank);
      }
      graph_.steps.back().end = size();
    }
    graph_.types = types_.size();
    gather_members();
    put_in_order(graph_);
    return std::move(graph_);
  }

 private:
  [[nodiscard]] std::uint32_t size() const {
    return static_cast<std::uint32_t>(graph_.nodes.size());
  }

  void number_names() {
    std::map<std::string, std::int64_t> numbers;
    for (const RankSummary& rank : summary_.ranks) {
      std::vector<std::int64_t> of_rank;
      for (const std::string& name : rank.names) {
        of_rank.push_back(
            numbers.try_emplace(name, static_cast<std::int64_t>(numbers.size())).first->second);
      }
      names_.push_back(std::move(of_rank));
    }
  }

  void place_meetings() {
    for (const RankSummary& rank : summary_.ranks) {
      meeting_of_.emplace_back(rank.instances.size(), kNone);
    }
    for (std::size_t i = 0; i < meetings_.all.size(); ++i) {
      for (const metrics::SeenBy& seen : meetings_.all[i].seen) {
        meeting_of_[seen.rank_place][seen.instance_place] = static_cast<std::uint32_t>(i);
      }
    }
  }

  [[nodiscard]] std::int64_t name_number(std::uint32_t rank, std::uint32_t name) const {
    return name < names_[rank].size() ? names_[rank][name] : -1;
  }

  // Lists are in order of steps: what lies before this one is passed for good.
  template <typename OfStep>
  std::pair<std::size_t, std::size_t> range_of(const std::vector<OfStep>& all, std::size_t& at,
                                               std::int64_t step) {
    while (at < all.size() && all[at].step < step) {
      ++at;
    }
    const std::size_t from = at;
    while (at < all.size() && all[at].step == step) {
      ++at;
    }
    return {from, at};
  }

  void add_rank(std::int64_t step, std::uint32_t rank) {
    const RankSummary& of = summary_.ranks[rank];
    const auto work = range_of(of.work, work_at_[rank], step);
    const auto met = range_of(of.instances, instance_at_[rank], step);
    const std::uint32_t first = size();
    lanes_.clear();
    add_communications(rank, met.first, met.second);
    const std::int64_t stage = stages_.empty() ? 0 : stages_[rank];
    const std::int64_t habit = of.is_whole_job ? 0 : habit_of(rank, met.first, met.second);
    const std::uint32_t own_type = types_.number({3, stage, habit, 0});
    graph_.steps.back().peers.push_back(own_type);
    for (std::size_t i = work.first; i < work.second; ++i) {
      add_work(rank, i, own_type);
    }
    std::vector<std::uint32_t> by_start(size() - first);
    for (std::uint32_t i = 0; i < by_start.size(); ++i) {
      by_start[i] = i;
    }
    std::ranges::stable_sort(by_start, {}, [&](std::uint32_t i) {
      const ReplayNode& node = graph_.nodes[first + i];
      return std::tuple(node.start_ns, node.end_ns);
    });
    std::vector<ReplayNode> nodes;
    std::vector<std::int64_t> lanes;
    for (const std::uint32_t i : by_start) {
      nodes.push_back(graph_.nodes[first + i]);
      lanes.push_back(lanes_[i]);
    }
    std::ranges::copy(nodes, graph_.nodes.begin() + first);
    const bool is_whole_job = summary_.ranks[rank].is_whole_job;
    follow(graph_, first, lanes,
           {.same_ns = meetings_.shares_clock ? kSameMomentNs : 0, .keeps_all = is_whole_job});
  }

  void add_communications(std::uint32_t rank, std::size_t from, std::size_t to) {
    const RankSummary& of = summary_.ranks[rank];
    for (std::size_t i = from; i < to; ++i) {
      const CollectiveInstance& one = of.instances[i];
      ReplayNode node{.rank = rank,
                      .place = static_cast<std::uint32_t>(i),
                      .meeting = meeting_of_[rank][i],
                      .actual_ns = one.end_ns - one.start_ns,
                      .start_ns = one.start_ns,
                      .end_ns = one.end_ns};
      if (node.meeting != kNone) {
        node.actual_ns = transfer_of(meetings_.all[node.meeting], one);
      }
      node.type = meetings_.shares_clock
                      ? types_.number({0, name_number(rank, one.name), 0, 0})
                      : types_.number({1, one.op ? static_cast<std::int64_t>(*one.op) : -1,
                                       one.bytes.value_or(-1), members_of(node.meeting)});
      graph_.nodes.push_back(node);
      lanes_.push_back(one.lane);
    }
  }

  [[nodiscard]] std::int64_t members_of(std::uint32_t meeting) const {
    return meeting == kNone ? 1 : static_cast<std::int64_t>(meetings_.all[meeting].seen.size());
  }

  // On one clock from when the last had come to its own end, which may differ a little.
  [[nodiscard]] std::int64_t transfer_of(const Meeting& meeting,
                                         const CollectiveInstance& one) const {
    if (!meetings_.shares_clock) {
      return meeting.transfer_ns;
    }
    std::int64_t all_there = one.start_ns;
    for (const metrics::SeenBy& seen : meeting.seen) {
      all_there = std::max(all_there, seen.start_ns);
    }
    return std::max<std::int64_t>(0, one.end_ns - all_there);
  }

  std::int64_t habit_of(std::uint32_t rank, std::size_t from, std::size_t to) {
    Habit habit{};
    for (std::size_t i = from; i < to; ++i) {
      const CollectiveInstance& one = summary_.ranks[rank].instances[i];
      const std::size_t end = !one.sender || !one.receiver               ? 0
                              : *one.sender == summary_.ranks[rank].rank ? 1
                                                                         : 2;
      habit[3 * (one.op ? static_cast<std::size_t>(*one.op) + 1 : 0) + end] += 1;
    }
    return habits_.try_emplace(habit, static_cast<std::int64_t>(habits_.size())).first->second;
  }

  void add_work(std::uint32_t rank, std::size_t i, std::uint32_t own_type) {
    const OwnWork& work = summary_.ranks[rank].work[i];
    const bool is_named = work.name != kNone;
    graph_.nodes.push_back(
        {.rank = rank,
         .place = static_cast<std::uint32_t>(i),
         .is_work = true,
         .is_operation = is_named,
         .type = is_named ? types_.number({2, name_number(rank, work.name), 0, 0}) : own_type,
         .actual_ns = work.total_ns(),
         .start_ns = work.start_ns,
         .end_ns = work.end_ns});
    // Own work that is not told by lanes is one more lane.
    lanes_.push_back(is_named ? work.lane : std::numeric_limits<std::int64_t>::min());
  }

  // Meetings of which the graph holds a node, numbered anew.
  void gather_members() {
    std::vector<std::uint32_t> number(meetings_.all.size(), kNone);
    for (ReplayNode& node : graph_.nodes) {
      if (node.meeting == kNone) {
        continue;
      }
      std::uint32_t& known = number[node.meeting];
      if (known == kNone) {
        known = static_cast<std::uint32_t>(graph_.meetings.size());
        graph_.meetings.push_back(0);
      }
      node.meeting = known;
      graph_.meetings[known] += 1;
    }
    graph_.member_start.assign(graph_.meetings.size() + 1, 0);
    for (std::size_t i = 0; i < graph_.meetings.size(); ++i) {
      graph_.member_start[i + 1] = graph_.member_start[i] + graph_.meetings[i];
    }
    graph_.members.resize(graph_.member_start.back());
    std::vector<std::uint32_t> at(graph_.member_start);
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].meeting != kNone) {
        graph_.members[at[graph_.nodes[i].meeting]++] = i;
      }
    }
  }

  const Summary& summary_;
  const Meetings& meetings_;
  ReplayGraph graph_;
  TypeTable types_;
  std::map<Habit, std::int64_t> habits_;
  std::vector<std::vector<std::int64_t>> names_;
  std::vector<std::vector<std::uint32_t>> meeting_of_;
  std::vector<std::size_t> work_at_, instance_at_;
  std::vector<std::int64_t> stages_;
  std::vector<std::int64_t> lanes_;  // of the nodes of the rank at hand
};

}  // namespace

ReplayGraph replay_graph(const Summary& summary, const Meetings& meetings) {
  return GraphBuilder(summary, meetings).take();
}

}  // namespace sextant::diagnose
