#include "metrics/period.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace sextant::metrics {
namespace {

using timeline::LaneId;
using timeline::Span;
using timeline::Timeline;

std::optional<Period> period_of_optimizer(const View& view, const RankLanes& rank) {
  constexpr std::string_view kOptimizer = "Optimizer.step#";
  const Timeline& timeline = view.timeline();
  std::vector<bool> is_optimizer;
  for (const timeline::Label& label : timeline.labels()) {
    is_optimizer.push_back(label.name.starts_with(kOptimizer));
  }
  std::vector<std::int64_t> ends;
  std::size_t found = is_optimizer.size();  // the label that comes first; others are not steps
  std::int64_t begin = Timeline::kFarthestNs;
  for (const LaneId lane : rank.threads) {
    for (const Span& span : timeline.spans_of(lane)) {
      begin = std::min(begin, span.start_ns);
      const auto label = static_cast<std::size_t>(timeline.occurrence_of(span).label.value);
      if (is_optimizer[label] && (found == is_optimizer.size() || found == label)) {
        found = label;
        ends.push_back(span.end_ns());
      }
    }
  }
  if (ends.size() < 2) {
    return std::nullopt;
  }
  std::sort(ends.begin(), ends.end());
  Period period{.found_by = timeline.labels()[found].name};
  for (const std::int64_t end : ends) {
    period.steps.push_back({begin, end});
    begin = end;
  }
  return period;
}

// Where a label stands in the sequence of the main stream.
struct Positions {
  std::size_t count = 0;
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t least_gap = SIZE_MAX;
  std::size_t largest_gap = 0;

  void add(std::size_t at) {
    if (count > 0) {
      least_gap = std::min(least_gap, at - last);
      largest_gap = std::max(largest_gap, at - last);
    } else {
      first = at;
    }
    last = at;
    count += 1;
  }
  // Evenly, and over most of the sequence: gaps within a quarter of one another. Two or three
  // kernels in turn are no step.
  [[nodiscard]] bool is_even(std::size_t length) const {
    return count >= 2 && least_gap >= 4 && 4 * largest_gap <= 5 * least_gap &&
           10 * count * largest_gap >= 7 * length;
  }
};

struct Sequence {
  std::vector<const Span*> work;
  std::vector<std::uint32_t> labels;
};

Sequence sequence_of(const View& view, LaneId lane) {
  Sequence sequence;
  for (const Span& span : view.timeline().spans_of(lane)) {
    const auto label = static_cast<std::uint32_t>(view.timeline().occurrence_of(span).label.value);
    if (view.traits[label].is_work) {
      sequence.work.push_back(&span);
      sequence.labels.push_back(label);
    }
  }
  return sequence;
}

bool repeats(const std::vector<std::uint32_t>& labels, const std::vector<std::size_t>& at) {
  std::size_t same = 0;
  std::size_t compared = 0;
  for (std::size_t i = 0; i + 2 < at.size() || (i == 0 && at.size() == 2); ++i) {
    const std::size_t length =
        std::min(at[i + 1] - at[i], (i + 2 < at.size() ? at[i + 2] : labels.size()) - at[i + 1]);
    for (std::size_t j = 0; j < length; ++j) {
      same += labels[at[i] + j] == labels[at[i + 1] + j] ? 1U : 0U;
    }
    compared += length;
  }
  return compared > 1 && 10 * same >= 9 * compared;
}

std::vector<std::size_t> positions_of(std::uint32_t label,
                                      const std::vector<std::uint32_t>& labels) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == label) {
      at.push_back(i);
    }
  }
  return at;
}

std::int64_t step_start(const View& view, const Span& work, bool on_host) {
  const std::uint32_t call = view.call_of[view.number_of(work)];
  return on_host ? view.timeline().spans()[call].start_ns : work.start_ns;
}

Period period_at(const View& view, const Sequence& sequence, std::vector<std::size_t> at) {
  Period period{.found_by = "kernels repeat"};
  period.is_on_host = std::all_of(at.begin(), at.end(), [&](std::size_t i) {
    return view.call_of[view.number_of(*sequence.work[i])] != kNone;
  });
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    const Interval step{step_start(view, *sequence.work[at[i]], period.is_on_host),
                        step_start(view, *sequence.work[at[i + 1]], period.is_on_host)};
    if (step.start_ns < step.end_ns) {
      period.steps.push_back(step);
    }
  }
  // What follows the last beginning is a step too, where it is as long as the one before.
  const std::size_t before = at.back() - at[at.size() - 2];
  if (10 * (sequence.labels.size() - at.back()) >= 9 * before) {
    const Span& last = *sequence.work.back();
    const std::int64_t end = period.is_on_host && view.call_of[view.number_of(last)] != kNone
                                 ? step_start(view, last, true) + 1
                                 : last.end_ns();
    const std::int64_t start = step_start(view, *sequence.work[at.back()], period.is_on_host);
    if (start < end) {
      period.steps.push_back({start, end});
    }
  }
  return period;
}

std::optional<Period> period_of_kernels(const View& view, LaneId main) {
  const Sequence sequence = sequence_of(view, main);
  std::vector<Positions> positions(view.traits.size());
  for (std::size_t i = 0; i < sequence.labels.size(); ++i) {
    positions[sequence.labels[i]].add(i);
  }
  // The rarest first, of these the one that comes first; a handful of tries keeps it linear.
  constexpr std::size_t kTries = 8;
  std::set<std::pair<std::size_t, std::pair<std::size_t, std::uint32_t>>> candidates;
  std::set<std::size_t> counts;
  for (std::uint32_t label = 0; label < positions.size(); ++label) {
    if (positions[label].is_even(sequence.labels.size())) {
      candidates.insert({positions[label].count, {positions[label].first, label}});
    }
  }
  for (const auto& [count, candidate] : candidates) {
    if (!counts.insert(count).second) {
      continue;
    }
    const std::vector<std::size_t> at = positions_of(candidate.second, sequence.labels);
    if (repeats(sequence.labels, at)) {
      return period_at(view, sequence, at);
    }
    if (counts.size() == kTries) {
      break;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Period> period_of(const View& view, const RankLanes& rank) {
  if (auto period = period_of_optimizer(view, rank)) {
    return period;
  }
  return rank.main ? period_of_kernels(view, *rank.main) : std::nullopt;
}

}  // namespace sextant::metrics
