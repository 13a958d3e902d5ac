#include "metrics/signals.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "metrics/host_timeline.h"
#include "metrics/idle.h"
#include "metrics/recorder_cost.h"

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::LaneId;
using timeline::Span;
using timeline::SpanKind;

// What a launch takes on its way to an idle device is some microseconds; what takes longer than
// this waits for something else. Source: HTA counts launch delays past 100 us as outliers.
constexpr std::int64_t kLongestLatencyNs = 100'000;
// A call that ended no earlier than this before the device had nothing to do was too late for it:
// what it launched was still on its way. Source: launch delays to idle streams in the profiles of
// an H200, 4 to 8 us.
constexpr std::int64_t kLaunchPathNs = 10'000;

constexpr auto kSyncing = static_cast<std::uint8_t>(Signal::kSync);

// Not kDispatch and what follows it, which hold nobody up by themselves.
bool is_stall(std::uint8_t signal) {
  return signal < static_cast<std::uint8_t>(Signal::kDispatch) ||
         signal == static_cast<std::uint8_t>(Signal::kHostCode) ||
         signal == static_cast<std::uint8_t>(Signal::kStepStart) ||
         signal == static_cast<std::uint8_t>(Signal::kStepEnd);
}

using RowKey = std::pair<std::uint8_t, std::uint32_t>;  // signal, label

class SignalCounter {
 public:
  SignalCounter(const View& view, const HostThreads& threads, std::vector<Interval> windows)
      : view_(view),
        threads_(threads),
        windows_(std::move(windows)),
        all_(threads.all),
        recorder_(recorder_cost(view, threads.lanes)),
        shows_waits_(shows_waits(view)) {
    for (const HostTimeline& own : threads.own) {
      own_.emplace_back(own);
    }
  }

  void add_gap(const Gap& gap) {
    const std::uint32_t call = gap.ended_by == kNone ? kNone : view_.call_of[gap.ended_by];
    if (call == kNone) {
      series_ = std::nullopt;
      add_host(gap.time, kNone, gap.ended_by == kNone);
      return;
    }
    series_ = series_of(gap);
    dispatched_in_ = kNone;
    const Span& asked = view_.timeline().spans()[call];
    const std::int64_t asked_end = std::clamp(asked.end_ns(), gap.time.start_ns, gap.time.end_ns);
    add_host({gap.time.start_ns, asked_end}, asked.lane, true);
    if (asked.end_ns() + kLaunchPathNs > gap.time.start_ns &&
        gap.time.end_ns - asked_end <= kLongestLatencyNs) {
      add_dispatch({asked_end, gap.time.end_ns}, Signal::kLatency, dispatched_in_);
    }
  }

  // What the device did nothing but copy, and for which copy.
  void add_copy(const Interval& time, const Label& label, std::uint32_t call, bool is_new) {
    const RowKey key = key_of_copy(label, call);
    if (key.first == kNoSignal) {
      return;
    }
    SignalRow& row = rows_[key];
    if (is_new && label.bytes && label.bytes->base() > 0.0) {
      row.add_bytes(label.bytes->base());
    }
    each_window(time, [&](const Interval& part) {
      row.copy_ns += part.length_ns();
      keep_longest(row.longest, part);
    });
  }

  // How long stalls took themselves, and recorded functions: those that begin in a kept step.
  void add_stalls(const RankSteps& steps) {
    std::size_t step = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const HostPiece& piece = all_.piece(i);
      const bool is_timed =
          is_stall(piece.signal) || piece.signal == static_cast<std::uint8_t>(Signal::kPython);
      if (!is_timed || piece.start_ns == kForeverAgo) {
        continue;
      }
      while (step < steps.steps.size() && steps.steps[step].host.end_ns <= piece.start_ns) {
        ++step;
      }
      if (step == steps.steps.size() || !steps.steps[step].is_kept ||
          steps.steps[step].host.start_ns > piece.start_ns) {
        continue;
      }
      // What follows the last operator of the recording has no end of its own.
      const std::int64_t end = i + 1 < all_.size() ? all_.end_of(i) : steps.steps[step].host.end_ns;
      const std::uint8_t signal = unseen_waits_.contains(i) ? kSyncing : piece.signal;
      rows_[{signal, piece.what}].time.add(end - piece.start_ns);
    }
  }

  std::vector<SignalRow> take() {
    std::vector<SignalRow> rows;
    for (auto& [key, row] : rows_) {
      row.signal = static_cast<Signal>(key.first);
      row.what = key.second == kNone ? std::string() : view_.timeline().labels()[key.second].name;
      rows.push_back(std::move(row));
    }
    return folded(std::move(rows));
  }

 private:
  template <typename Use>
  void each_window(const Interval& time, const Use& use) const {
    auto at = std::partition_point(windows_.begin(), windows_.end(), [&](const Interval& window) {
      return window.end_ns <= time.start_ns;
    });
    for (; at != windows_.end() && at->start_ns < time.end_ns; ++at) {
      const Interval part{std::max(time.start_ns, at->start_ns), std::min(time.end_ns, at->end_ns)};
      if (part.start_ns < part.end_ns) {
        use(part);
      }
    }
  }

  void add_idle(const Interval& time, SignalRow& row) const {
    each_window(time, [&](const Interval& part) {
      row.idle_ns += part.length_ns();
      keep_longest(row.longest, part);
    });
  }

  [[nodiscard]] std::size_t place_of(std::uint32_t lane) const {
    return static_cast<std::size_t>(std::find(threads_.lanes.begin(), threads_.lanes.end(), lane) -
                                    threads_.lanes.begin());
  }

  // The moments before a call on the lane, by what that thread was at, else any.
  void add_host(const Interval& time, std::uint32_t lane, bool waits_for_host) {
    const std::size_t own = place_of(lane);
    for (std::int64_t from = time.start_ns; from < time.end_ns;) {
      const std::size_t in_all = all_.at(from);
      HostPiece piece = all_.piece(in_all);
      std::int64_t until = std::min(time.end_ns, all_.end_of(in_all));
      if (own < own_.size()) {
        const std::size_t in_own = own_[own].at(from);
        until = std::min(until, own_[own].end_of(in_own));
        if (own_[own].piece(in_own).signal != kNoSignal) {
          piece = own_[own].piece(in_own);
        }
      }
      pass_stalls(in_all);
      if (is_unseen_wait(in_all, from)) {
        unseen_waits_.insert(in_all);
        piece.signal = kSyncing;
      }
      add_piece({from, until}, piece, waits_for_host);
      from = until;
    }
  }

  // Where such calls are not shown the host waited if it was inside nothing, the device worked
  // nearly all of that time, and the host went on as soon as that was through.
  [[nodiscard]] bool is_unseen_wait(std::size_t place, std::int64_t idle_from) const {
    constexpr std::int64_t kSoon = 10;
    const HostPiece& piece = all_.piece(place);
    const bool is_inside_nothing = piece.signal == static_cast<std::uint8_t>(Signal::kHostCode) ||
                                   piece.signal == static_cast<std::uint8_t>(Signal::kStepEnd);
    return is_inside_nothing && !shows_waits_ && piece.start_ns != kForeverAgo &&
           place + 1 < all_.size() && idle_from > piece.start_ns &&
           kSoon * (all_.end_of(place) - idle_from) <= all_.end_of(place) - piece.start_ns;
  }
  // That is idle for the recorder alone: without it the host would be so much further ahead.
  // Gives the rest of the time.
  Interval without_recorder(const Interval& time) {
    const std::int64_t taken = recorder_.take(time.end_ns, time.length_ns());
    if (taken <= 0) {
      return time;
    }
    const Interval its{time.end_ns - taken, time.end_ns};
    add_idle(its, rows_[{static_cast<std::uint8_t>(Signal::kRecorder), kNone}]);
    return {time.start_ns, its.start_ns};
  }

  // `waits_for_host`: nothing but the host can be the cause.
  void add_piece(const Interval& time, const HostPiece& piece, bool waits_for_host) {
    if (is_stall(piece.signal) &&
        (waits_for_host || piece.signal < static_cast<std::uint8_t>(Signal::kDispatch))) {
      SignalRow& row = rows_[{piece.signal, piece.what}];
      stalled_ns_ += series_ ? 0 : time.length_ns();
      // One copy after another goes as fast as the host launches, and the recorder records.
      const Interval own = series_ ? without_recorder(time) : time;
      add_idle(own, row);
    } else if (waits_for_host && !is_stall(piece.signal) && piece.signal != kNoSignal) {
      dispatched_in_ = piece.what;
      add_dispatch(time, static_cast<Signal>(piece.signal), piece.what);
    }
  }

  // One copy from pageable memory after another: what the host does in between is to make them.
  [[nodiscard]] std::optional<RowKey> series_of(const Gap& gap) {
    if (gap.before == kNone || view_.call_of[gap.before] == kNone) {
      return std::nullopt;
    }
    const auto key_of = [&](std::uint32_t number) {
      const Label& label = view_.timeline().label_of(view_.timeline().spans()[number]);
      return label.kind == SpanKind::kCopy ? key_of_copy(label, view_.call_of[number])
                                           : RowKey{kNoSignal, kNone};
    };
    const RowKey key = key_of(gap.ended_by);
    const bool is_copy = key.first == static_cast<std::uint8_t>(Signal::kCopyIn);
    return is_copy && key_of(gap.before) == key ? std::optional(key) : std::nullopt;
  }

  void add_dispatch(const Interval& time, Signal signal, std::uint32_t what) {
    if (time.start_ns >= time.end_ns) {
      return;
    }
    if (series_) {
      add_piece(time,
                {.start_ns = time.start_ns, .signal = series_->first, .what = series_->second},
                true);
      return;
    }
    pass_stalls(all_.at(time.start_ns));
    const Interval own = without_recorder(time);
    const std::int64_t filled = std::min(lead_ns_, own.length_ns());
    lead_ns_ -= filled;
    SignalRow& row = rows_[{static_cast<std::uint8_t>(signal), what}];
    add_idle(own, row);
    if (filled > 0) {
      each_window({time.start_ns, time.start_ns + filled},
                  [&](const Interval& part) { rows_[held_up_by_].after_ns += part.length_ns(); });
    }
  }

  // Stalls that ended before that place: without the last of them, and those of its kind before it,
  // the host would be so much further ahead. One of another kind that waits for the device would
  // have lost that lead.
  void pass_stalls(std::size_t place) {
    for (; passed_ < place; ++passed_) {
      const HostPiece& piece = all_.piece(passed_);
      if (!is_stall(piece.signal) || piece.start_ns == kForeverAgo) {
        continue;
      }
      const std::int64_t lead =
          std::max<std::int64_t>(0, all_.end_of(passed_) - piece.start_ns - stalled_ns_);
      const std::uint8_t signal = unseen_waits_.contains(passed_) ? kSyncing : piece.signal;
      // A copy from pageable memory waits for the work before it on its stream.
      const bool waits = signal == kSyncing ||
                         signal == static_cast<std::uint8_t>(Signal::kCopyIn) ||
                         signal == static_cast<std::uint8_t>(Signal::kCopyOut);
      if (waits && !series_) {
        recorder_.lose(all_.end_of(passed_));
      }
      // Of one kind, mending one mends all: their leads add up.
      if (signal == held_up_by_.first) {
        lead_ns_ += lead;
        held_up_by_.second = piece.what;
      } else if (waits || lead > lead_ns_) {
        lead_ns_ = lead;
        held_up_by_ = {signal, piece.what};
      }
      stalled_ns_ = 0;
    }
  }

  RowKey key_of_copy(const Label& label, std::uint32_t call) {
    const bool is_in = is_copy_in(label);
    if (call == kNone || (!is_in && !is_copy_out(label))) {
      return {kNoSignal, kNone};
    }
    const Span& asked = view_.timeline().spans()[call];
    const std::size_t own = place_of(asked.lane);
    if (own < threads_.own.size()) {
      const HostTimeline& timeline = threads_.own[own];
      const auto after = std::partition_point(
          timeline.begin(), timeline.end(),
          [&](const HostPiece& piece) { return piece.start_ns <= asked.start_ns; });
      if (after != timeline.begin() && is_stall(std::prev(after)->signal)) {
        return {std::prev(after)->signal, std::prev(after)->what};
      }
    }
    if (is_in) {
      const Signal signal = is_pageable_copy(label) ? Signal::kCopyIn : Signal::kPinnedIn;
      return {static_cast<std::uint8_t>(signal), kNone};
    }
    const bool is_much = label.bytes && label.bytes->base() > kSmallCopyBytes;
    return {static_cast<std::uint8_t>(is_much ? Signal::kCopyOut : Signal::kSync), kNone};
  }

  const View& view_;
  const HostThreads& threads_;
  std::vector<Interval> windows_;
  HostCursor all_;
  std::vector<HostCursor> own_;
  std::map<RowKey, SignalRow> rows_;
  RecorderLead recorder_;
  bool shows_waits_ = false;             // calls that wait for the device are recorded
  std::set<std::size_t> unseen_waits_;   // pieces of all_ in which the host waited for the device
  std::optional<RowKey> series_;         // that the gap lies in
  std::uint32_t dispatched_in_ = kNone;  // a step of an optimizer, or nothing, at the last launch
  std::size_t passed_ = 0;               // pieces of all_ that lie behind
  std::int64_t stalled_ns_ = 0;          // of the stall that is not passed yet, the device was idle
  std::int64_t lead_ns_ = 0;             // that the host would have had without held_up_by_
  RowKey held_up_by_{kNoSignal, kNone};
};

// Copies of the rank in order of time, each with what of it nothing hides and no other copy has.
void add_copies(const View& view, const RankLanes& rank, const Steps& steps,
                const RankSteps& of_rank, const Activity& activity, SignalCounter& counter) {
  const Intervals exposed =
      difference(activity.copy, united(activity.compute, activity.communication));
  std::vector<std::uint32_t> copies;
  for (const LaneId lane : rank.streams) {
    if (view.timeline().sum(lane, SpanKind::kCopy).spans == 0) {
      continue;
    }
    for (const Span& span : view.timeline().spans_of(lane)) {
      if (view.timeline().label_of(span).kind == SpanKind::kCopy) {
        copies.push_back(view.number_of(span));
      }
    }
  }
  const std::span<const Span> spans = view.timeline().spans();
  std::sort(copies.begin(), copies.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(spans[a].start_ns, a) < std::tuple(spans[b].start_ns, b);
  });
  auto at = exposed.begin();
  std::int64_t taken = -timeline::Timeline::kFarthestNs;
  for (const std::uint32_t number : copies) {
    const Span& span = spans[number];
    const Label& label = view.timeline().label_of(span);
    const std::uint32_t step = steps.step_of[number];
    const bool is_kept = step != kNone && of_rank.steps[step].is_kept;
    if (is_kept) {
      counter.add_copy({span.start_ns, span.start_ns}, label, view.call_of[number], true);
    }
    while (at != exposed.end() && at->end_ns <= span.start_ns) {
      ++at;
    }
    for (auto part = at; part != exposed.end() && part->start_ns < span.end_ns(); ++part) {
      const Interval time{std::max({part->start_ns, span.start_ns, taken}),
                          std::min(part->end_ns, span.end_ns())};
      if (time.start_ns < time.end_ns) {
        counter.add_copy(time, label, view.call_of[number], false);
      }
    }
    taken = std::max(taken, span.end_ns());
  }
}

Interval whole_of(const RankSteps& steps) {
  Interval whole = steps.steps.front().window;
  for (const Step& step : steps.steps) {
    whole.start_ns = std::min(whole.start_ns, step.window.start_ns);
    whole.end_ns = std::max(whole.end_ns, step.window.end_ns);
  }
  return whole;
}

}  // namespace

std::vector<SignalRow> signal_table(const View& view, const RankLanes& rank, const Steps& steps,
                                    std::size_t rank_number, const Activity& activity) {
  const RankSteps& of_rank = steps.ranks[rank_number];
  std::vector<Interval> windows;
  for (const Step& step : of_rank.steps) {
    if (step.is_kept) {
      windows.push_back(step.window);
    }
  }
  if (windows.empty()) {
    return {};
  }
  const HostThreads threads = host_threads(view, rank, of_rank);
  SignalCounter counter(view, threads, windows);
  // Of all steps, kept or not: what a stall leaves behind may lie in the next one.
  for (const Gap& gap : device_gaps(view, rank, activity, {whole_of(of_rank)})) {
    counter.add_gap(gap);
  }
  counter.add_stalls(of_rank);
  add_copies(view, rank, steps, of_rank, activity, counter);
  return counter.take();
}

}  // namespace sextant::metrics
