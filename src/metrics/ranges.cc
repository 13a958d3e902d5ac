#include "metrics/ranges.h"

#include <algorithm>
#include <map>

#include "metrics/idle.h"
#include "metrics/window_sums.h"

namespace sextant::metrics {
namespace {

using timeline::LaneId;
using timeline::Span;
using timeline::SpanKind;

// What a call brought to the device.
struct Brought {
  std::int64_t work_ns = 0;
  std::int64_t idle_ns = 0;
  Brought& operator+=(const Brought& other) {
    work_ns += other.work_ns;
    idle_ns += other.idle_ns;
    return *this;
  }
};

// By number of a span: of calls, what they brought; `none` is of no known call.
struct ByCall {
  std::vector<Brought> calls;
  Brought none;
  Brought& of(const View& view, std::uint32_t work) {
    const std::uint32_t call = work == kNone ? kNone : view.call_of[work];
    return call == kNone ? none : calls[call];
  }
};

void add_launched(const View& view, const RankLanes& rank, const Steps& steps,
                  const RankSteps& of_rank, ByCall& brought) {
  for (const LaneId lane : rank.streams) {
    for (const Span& span : view.timeline().spans_of(lane)) {
      const std::uint32_t number = view.number_of(span);
      const std::uint32_t step = steps.step_of[number];
      if (step != kNone && of_rank.steps[step].is_kept && view.traits_of(span).is_work) {
        brought.of(view, number).work_ns += span.duration_ns;
      }
    }
  }
}

void add_gaps(const View& view, const RankLanes& rank, const RankSteps& of_rank,
              const Activity& activity, ByCall& brought) {
  std::vector<Interval> windows;
  for (const Step& step : of_rank.steps) {
    if (step.is_kept) {
      windows.push_back(step.window);
    }
  }
  WindowSums<std::int64_t> sums(windows);
  for (const Gap& gap : device_gaps(view, rank, activity, windows)) {
    sums.add(gap.time, [&](std::int64_t& /*sum*/, const Interval& part) {
      brought.of(view, gap.ended_by).idle_ns += part.length_ns();
    });
  }
}

// Goes through the ranges of a thread as they nest.
class RangeWalk {
 public:
  RangeWalk(const View& view, const Steps& steps, const RankSteps& of_rank, const ByCall& brought)
      : view_(view), steps_(steps), of_rank_(of_rank), brought_(brought) {
    rows_.resize(view.traits.size());
    open_of_label_.resize(view.traits.size());
  }

  void walk(LaneId lane) {
    for (const Span& span : view_.timeline().spans_of(lane)) {
      while (!open_.empty() && open_.back().end_ns <= span.start_ns) {
        close();
      }
      const auto label = static_cast<std::size_t>(view_.timeline().occurrence_of(span).label.value);
      const SpanKind kind = view_.timeline().labels()[label].kind;
      if (view_.traits[label].is_runtime) {
        (open_.empty() ? outside_ : open_.back().own) += brought_.calls[view_.number_of(span)];
      } else if (kind == SpanKind::kHost || kind == SpanKind::kMark) {
        open(span, label);
      }
    }
    while (!open_.empty()) {
      close();
    }
  }

  // Named; what lies outside of all ranges under "".
  std::vector<RangeRow> take() {
    std::vector<RangeRow> named;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].work_ns > 0 || rows_[i].idle_ns > 0) {
        rows_[i].name = name_of(view_.timeline().labels()[i].name);
        named.push_back(std::move(rows_[i]));
      }
    }
    outside_ += brought_.none;
    if (outside_.work_ns > 0 || outside_.idle_ns > 0) {
      named.push_back({.name = {},
                       .count = 0,
                       .work_ns = outside_.work_ns,
                       .own_work_ns = outside_.work_ns,
                       .idle_ns = outside_.idle_ns,
                       .own_idle_ns = outside_.idle_ns});
    }
    return folded(std::move(named));
  }

 private:
  struct Open {
    std::size_t label = 0;
    std::int64_t end_ns = 0;
    Brought own;     // by no range inside
    Brought inside;  // by ranges inside
  };

  static std::string name_of(const std::string& name) {
    const std::size_t mark = name.rfind('#');
    const bool is_numbered = mark != std::string::npos && mark + 1 < name.size() &&
                             name.find_first_not_of("0123456789", mark + 1) == std::string::npos;
    return is_numbered ? name.substr(0, mark + 1) : name;
  }

  void open(const Span& span, std::size_t label) {
    open_.push_back({label, span.end_ns(), {}, {}});
    ++open_of_label_[label];
    const std::uint32_t step = steps_.step_of[view_.number_of(span)];
    rows_[label].count += step != kNone && of_rank_.steps[step].is_kept ? 1 : 0;
  }

  void close() {
    const Open range = open_.back();
    open_.pop_back();
    RangeRow& row = rows_[range.label];
    Brought all = range.own;
    all += range.inside;
    row.own_work_ns += range.own.work_ns;
    row.own_idle_ns += range.own.idle_ns;
    // One that lies in another of its name has been counted with that.
    if (--open_of_label_[range.label] == 0) {
      row.work_ns += all.work_ns;
      row.idle_ns += all.idle_ns;
    }
    if (!open_.empty()) {
      open_.back().inside += all;
    }
  }

  const View& view_;
  const Steps& steps_;
  const RankSteps& of_rank_;
  const ByCall& brought_;
  std::vector<RangeRow> rows_;               // by label
  std::vector<std::int64_t> open_of_label_;  // how many are open
  std::vector<Open> open_;
  Brought outside_;
};

}  // namespace

RangeRow& RangeRow::operator+=(const RangeRow& other) {
  count += other.count;
  work_ns += other.work_ns;
  own_work_ns += other.own_work_ns;
  idle_ns += other.idle_ns;
  own_idle_ns += other.own_idle_ns;
  return *this;
}

std::vector<RangeRow> folded(std::vector<RangeRow> rows) {
  std::map<std::string, RangeRow> by_name;
  for (RangeRow& row : rows) {
    const auto [at, is_new] = by_name.try_emplace(row.name, row);
    if (!is_new) {
      at->second += row;
    }
  }
  std::vector<RangeRow> table;
  for (auto& [name, row] : by_name) {
    table.push_back(std::move(row));
  }
  std::stable_sort(table.begin(), table.end(), [](const RangeRow& a, const RangeRow& b) {
    return a.work_ns + a.idle_ns > b.work_ns + b.idle_ns;
  });
  return table;
}

std::vector<RangeRow> range_table(const View& view, const RankLanes& rank, const Steps& steps,
                                  std::size_t rank_number, const Activity& activity) {
  if (!rank.has_device()) {
    return {};
  }
  const RankSteps& of_rank = steps.ranks[rank_number];
  ByCall brought{std::vector<Brought>(view.call_of.size()), {}};
  add_launched(view, rank, steps, of_rank, brought);
  add_gaps(view, rank, of_rank, activity, brought);
  RangeWalk walk(view, steps, of_rank, brought);
  for (const LaneId lane : rank.threads) {
    walk.walk(lane);
  }
  return walk.take();
}

}  // namespace sextant::metrics
