#include "metrics/steps.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "metrics/period.h"

namespace sextant::metrics {
namespace {

using timeline::LaneId;
using timeline::Place;
using timeline::Span;
using timeline::Timeline;

struct Mark {
  std::int64_t number = 0;
  Interval time;
};

std::optional<std::int64_t> profiler_step(std::string_view name) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  std::int64_t number = 0;
  if (!name.starts_with(kPrefix)) {
    return std::nullopt;
  }
  name.remove_prefix(kPrefix.size());
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(number)
                                                                  : std::nullopt;
}

std::vector<Mark> named_marks(const View& view, const RankLanes& rank) {
  const Timeline& timeline = view.timeline();
  std::vector<std::optional<std::int64_t>> number_of;
  bool any = false;
  for (const timeline::Label& label : timeline.labels()) {
    number_of.push_back(profiler_step(label.name));
    any |= number_of.back().has_value();
  }
  std::vector<Mark> marks;
  for (std::size_t i = 0; any && i < rank.threads.size(); ++i) {
    for (const Span& span : timeline.spans_of(rank.threads[i])) {
      const auto label = static_cast<std::size_t>(timeline.occurrence_of(span).label.value);
      if (number_of[label]) {
        marks.push_back({*number_of[label], {span.start_ns, span.end_ns()}});
      }
    }
  }
  return marks;
}

// In order, none empty, none beginning before the one before it ends.
std::vector<Mark> in_order(std::vector<Mark> marks) {
  std::stable_sort(marks.begin(), marks.end(),
                   [](const Mark& a, const Mark& b) { return a.time.start_ns < b.time.start_ns; });
  std::vector<Mark> kept;
  for (Mark& mark : marks) {
    if (mark.time.start_ns < mark.time.end_ns &&
        (kept.empty() || mark.time.start_ns >= kept.back().time.end_ns)) {
      kept.push_back(mark);
    }
  }
  return kept;
}

std::vector<Mark> marks_of(const View& view, const RankLanes& rank) {
  std::vector<Mark> marks;
  for (const timeline::RecordedStep& step : of_rank(view.recording->steps, rank.rank)) {
    marks.push_back({step.number, {step.start_ns, step.end_ns}});
  }
  if (marks.empty()) {
    marks = named_marks(view, rank);
  }
  return in_order(std::move(marks));
}

// Everything that the rank did: its device if there is one.
Interval whole_window(const View& view, const RankLanes& rank) {
  Interval all{Timeline::kFarthestNs, -Timeline::kFarthestNs};
  for (const LaneId lane : rank.has_device() ? rank.streams : rank.threads) {
    for (const Span& span : view.timeline().spans_of(lane)) {
      all.start_ns = std::min(all.start_ns, span.start_ns);
      all.end_ns = std::max(all.end_ns, span.end_ns());
    }
  }
  return all;
}

// A step lasts until the next begins, unless something else came between: a tenth of the step.
std::vector<Step> host_steps(const std::vector<Mark>& marks) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    Interval host = marks[i].time;
    if (i + 1 < marks.size() &&
        10 * (marks[i + 1].time.start_ns - host.end_ns) <= host.length_ns()) {
      host.end_ns = marks[i + 1].time.start_ns;
    }
    steps.push_back({.number = marks[i].number, .host = host, .window = host});
  }
  return steps;
}

// The step whose host window holds the moment, from the last answer on: moments come nearly in
// order.
class StepFinder {
 public:
  explicit StepFinder(const std::vector<Step>& steps, bool by_window = false)
      : steps_(steps), by_window_(by_window) {}
  // Steps that begin no later than the moment.
  std::size_t begun(std::int64_t at_ns) {
    while (at_ < steps_.size() && time(at_).start_ns <= at_ns) {
      ++at_;
    }
    while (at_ > 0 && time(at_ - 1).start_ns > at_ns) {
      --at_;
    }
    return at_;
  }
  std::uint32_t holding(std::int64_t at_ns) {
    const std::size_t count = begun(at_ns);
    return count > 0 && at_ns < time(count - 1).end_ns ? static_cast<std::uint32_t>(count - 1)
                                                       : kNone;
  }

 private:
  [[nodiscard]] const Interval& time(std::size_t i) const {
    return by_window_ ? steps_[i].window : steps_[i].host;
  }
  const std::vector<Step>& steps_;
  std::size_t at_ = 0;
  bool by_window_ = false;
};

// Ends of the work on the main stream, by what the host was at when it launched it.
struct LaunchedEnds {
  std::vector<std::int64_t> in_step;  // the last end of what each step launched
  std::vector<std::int64_t> before;   // of what was launched before each step
};

LaunchedEnds launched_ends(const View& view, LaneId main, const std::vector<Step>& steps) {
  LaunchedEnds ends{std::vector<std::int64_t>(steps.size(), -Timeline::kFarthestNs),
                    std::vector<std::int64_t>(steps.size() + 1, -Timeline::kFarthestNs)};
  StepFinder finder(steps);
  const std::span<const Span> all = view.timeline().spans();
  for (const Span& span : view.timeline().spans_of(main)) {
    const std::uint32_t call = view.call_of[view.number_of(span)];
    if (call == kNone) {
      continue;
    }
    const std::size_t begun = finder.begun(all[call].start_ns);
    ends.before[begun] = std::max(ends.before[begun], span.end_ns());
    if (begun > 0 && all[call].start_ns < steps[begun - 1].host.end_ns) {
      ends.in_step[begun - 1] = std::max(ends.in_step[begun - 1], span.end_ns());
    }
  }
  for (std::size_t i = 1; i < ends.before.size(); ++i) {
    ends.before[i] = std::max(ends.before[i], ends.before[i - 1]);
  }
  return ends;
}

// False where a step launched nothing on the main stream: then the marks must do.
bool set_windows(const View& view, LaneId main, std::vector<Step>& steps) {
  const LaunchedEnds ends = launched_ends(view, main, steps);
  std::vector<Interval> windows;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool follows = i > 0 && steps[i - 1].host.end_ns == steps[i].host.start_ns;
    const bool is_followed =
        i + 1 < steps.size() && steps[i].host.end_ns == steps[i + 1].host.start_ns;
    Interval window{ends.before[i], ends.in_step[i]};
    if (!follows) {
      window.start_ns = std::max(window.start_ns, steps[i].host.start_ns);
    }
    if (!is_followed) {
      window.end_ns = std::max(window.end_ns, steps[i].host.end_ns);
    }
    if (ends.in_step[i] <= window.start_ns) {
      return false;
    }
    // What lasts beyond the beginning of the step after a pause is that one's, too.
    if (!windows.empty()) {
      windows.back().end_ns = std::min(windows.back().end_ns, window.start_ns);
    }
    windows.push_back(window);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].window = windows[i];
  }
  return true;
}

bool is_launched(const View& view, LaneId main) {
  const std::span<const Span> spans = view.timeline().spans_of(main);
  return std::any_of(spans.begin(), spans.end(),
                     [&](const Span& span) { return view.call_of[view.number_of(span)] != kNone; });
}

void keep(RankSteps& rank, const std::optional<StepRange>& range) {
  const bool trims = !range && rank.steps.size() >= 3;
  for (std::size_t i = 0; i < rank.steps.size(); ++i) {
    Step& step = rank.steps[i];
    step.is_kept = range ? step.number >= range->first && step.number <= range->last
                         : !trims || (i > 0 && i + 1 < rank.steps.size());
  }
  rank.left_out = static_cast<std::int64_t>(rank.steps.size()) - rank.kept();
}

// Leaves no more than kMostSteps, from the one before the range on; how many are gone.
std::int64_t bound(std::vector<Mark>& marks, const std::optional<StepRange>& range) {
  if (marks.size() <= kMostSteps) {
    return 0;
  }
  const auto all = std::ssize(marks);
  auto first = marks.begin();
  if (range) {
    first = std::find_if(first, marks.end(),
                         [&](const Mark& mark) { return mark.number >= range->first; });
    first -= first == marks.begin() ? 0 : 1;
  }
  marks.erase(marks.begin(), first);
  marks.resize(std::min(marks.size(), kMostSteps));
  return all - std::ssize(marks);
}

RankSteps rank_steps(const View& view, const RankLanes& rank,
                     const std::optional<StepRange>& range) {
  RankSteps answer{.rank = rank.rank};
  std::vector<Mark> marks = marks_of(view, rank);
  bool on_host = true;
  if (marks.empty()) {
    if (const std::optional<Period> period = period_of(view, rank);
        period && !period->steps.empty()) {
      answer.basis = StepBasis::kPeriod;
      answer.found_by = period->found_by;
      on_host = period->is_on_host;
      for (const Interval& step : period->steps) {
        marks.push_back({static_cast<std::int64_t>(marks.size()), step});
      }
    } else {
      answer.basis = StepBasis::kWhole;
      on_host = false;
      marks.push_back({0, whole_window(view, rank)});
    }
  }
  const std::int64_t beyond = bound(marks, range);
  answer.steps = host_steps(marks);
  answer.by_launches = on_host && rank.main && is_launched(view, *rank.main) &&
                       set_windows(view, *rank.main, answer.steps);
  keep(answer, range);
  answer.left_out += beyond;
  return answer;
}

void place_spans(const View& view, const RankLanes& rank, const RankSteps& steps,
                 std::vector<std::uint32_t>& step_of) {
  const std::span<const Span> all = view.timeline().spans();
  const auto place_lane = [&](LaneId lane, bool on_device) {
    StepFinder by_host(steps.steps);
    StepFinder by_window(steps.steps, true);
    for (const Span& span : view.timeline().spans_of(lane)) {
      const std::uint32_t number = view.number_of(span);
      const std::uint32_t call = on_device ? view.call_of[number] : kNone;
      if (on_device && (call == kNone || !steps.by_launches)) {
        step_of[number] = by_window.holding(span.start_ns);
      } else {
        step_of[number] = by_host.holding(on_device ? all[call].start_ns : span.start_ns);
      }
    }
  };
  for (const LaneId lane : rank.streams) {
    place_lane(lane, true);
  }
  for (const LaneId lane : rank.threads) {
    place_lane(lane, false);
  }
}

}  // namespace

std::int64_t RankSteps::kept() const {
  return std::count_if(steps.begin(), steps.end(), [](const Step& step) { return step.is_kept; });
}

Steps steps_of(const View& view, std::optional<StepRange> range) {
  Steps answer;
  answer.step_of.assign(view.timeline().spans().size(), kNone);
  for (const RankLanes& rank : view.ranks) {
    answer.ranks.push_back(rank_steps(view, rank, range));
    place_spans(view, rank, answer.ranks.back(), answer.step_of);
  }
  return answer;
}

}  // namespace sextant::metrics
