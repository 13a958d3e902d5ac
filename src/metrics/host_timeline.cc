#include "metrics/host_timeline.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "metrics/host_gaps.h"
#include "metrics/host_signs.h"
#include "metrics/signal_names.h"

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::LaneId;
using timeline::Span;
using timeline::SpanKind;

constexpr std::uint8_t number_of(Signal signal) {
  return static_cast<std::uint8_t>(signal);
}

constexpr std::uint8_t kDispatching = number_of(Signal::kDispatch);

std::size_t label_at(const View& view, const Span& span) {
  return static_cast<std::size_t>(view.timeline().occurrence_of(span).label.value);
}

// One thread's timeline.
class ThreadReader {
 public:
  // `step_starts`: where marks of steps begin, in order.
  ThreadReader(const View& view, const HostSigns& signs, bool has_device,
               const std::vector<std::int64_t>& step_starts)
      : view_(view), signs_(signs), has_device_(has_device), step_starts_(step_starts) {}

  HostTimeline read(LaneId lane) {
    timeline_.assign(1, {.start_ns = kForeverAgo});
    for (const Span& span : view_.timeline().spans_of(lane)) {
      const std::size_t label = label_at(view_, span);
      const LabelSign& sign = signs_.of_label[label];
      if (sign.is_skipped || span.duration_ns == 0) {
        continue;
      }
      const std::uint8_t signal = signal_of(span, label, sign);
      if (sign.is_frame || (sign.is_outline && signal >= kDispatching)) {
        enter_frame(span, label);
        if (sign.is_update) {
          update_ = static_cast<std::uint32_t>(label);
          update_until_ = span.end_ns();
        }
        continue;
      }
      close_until(span.start_ns);
      enter(span, label, signal);
    }
    close_until(std::numeric_limits<std::int64_t>::max());
    append_piece(timeline_, {.start_ns = free_since_});
    return std::move(timeline_);
  }

 private:
  struct Open {
    std::int64_t end_ns = 0;
    std::uint8_t signal = 0;
    std::uint32_t what = kNone;
    std::uint32_t label = kNone;
  };
  struct OpenFrame {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t label = kNone;
  };

  [[nodiscard]] std::uint8_t signal_of(const Span& span, std::size_t label,
                                       const LabelSign& sign) const {
    const std::uint8_t inside = signs_.inside[view_.number_of(span)];
    if (sign.signal != kNoSignal) {
      return (inside & kRetries) != 0 && (sign.is_release || sign.is_request)
                 ? number_of(Signal::kRetry)
                 : sign.signal;
    }
    const bool launches = (inside & kLaunches) != 0;
    if (sign.is_update && !launches && has_device_) {
      return number_of(Signal::kHostUpdate);
    }
    if (span.duration_ns >= kLongHostNs && has_device_ && (inside & (kPageable | kWaits)) == 0) {
      if (const std::uint8_t why = why_long(label, sign, inside); why != kDispatching) {
        return why;
      }
    }
    const bool copies = sign.is_copying || view_.traits[label].is_runtime;
    if (copies && (inside & kPageable) != 0) {
      return number_of(Signal::kCopyIn);
    }
    if (sign.is_copying && (inside & kCopiesMuchOut) != 0) {
      return number_of(Signal::kCopyOut);
    }
    const bool waits = (inside & kWaits) != 0;
    const bool reads = sign.is_reading || (sign.is_copying && (inside & kCopiesOut) != 0);
    return waits && (reads || view_.traits[label].is_blocking) ? number_of(Signal::kSync)
                                                               : number_of(Signal::kDispatch);
  }

  // No launch takes so long by itself: its kernel is loaded then, or the thread lost its core. An
  // operator that launches nothing works on the host, unless it rarely lasts so long.
  [[nodiscard]] std::uint8_t why_long(std::size_t label, const LabelSign& sign,
                                      std::uint8_t inside) const {
    const bool is_call = view_.traits[label].is_runtime;
    if (is_call && (inside & kFirst) != 0) {
      return number_of(Signal::kCompilation);
    }
    if (is_call || (sign.is_operator && (inside & kLaunches) == 0)) {
      return number_of(signs_.is_rarely_long(label) ? Signal::kHeldUp : Signal::kHostCode);
    }
    return kDispatching;
  }

  void enter(const Span& span, std::size_t label, std::uint8_t signal) {
    if (open_.empty()) {
      fill_gap(span.start_ns);
    }
    const auto named = static_cast<std::uint32_t>(label);
    Open now{span.end_ns(), signal, named, named};
    if (!open_.empty() && open_.back().signal <= signal) {
      now.signal = open_.back().signal;
      now.what = open_.back().what;
    } else if (!open_.empty() && signal == number_of(Signal::kSync)) {
      // "aten::index" says more than its cudaStreamSynchronize.
      now.what = view_.traits[label].is_blocking ? open_.back().label : now.what;
    }
    if (now.signal == kDispatching) {
      now.what = update_at(span.start_ns);
    }
    // What only overlaps ends with what is around it.
    now.end_ns = open_.empty() ? now.end_ns : std::min(now.end_ns, open_.back().end_ns);
    open_.push_back(now);
    append_piece(timeline_, {span.start_ns, now.signal, now.what});
  }

  // The optimizer's step that the thread is in, if any.
  [[nodiscard]] std::uint32_t update_at(std::int64_t at_ns) const {
    return at_ns < update_until_ ? update_ : kNone;
  }

  void close_until(std::int64_t at_ns) {
    while (!open_.empty() && open_.back().end_ns <= at_ns) {
      const std::int64_t end = open_.back().end_ns;
      open_.pop_back();
      if (open_.empty()) {
        free_since_ = end;
        longest_frame_ = {};
        left_frames_.clear();
      } else {
        append_piece(timeline_, {end, open_.back().signal, open_.back().what});
      }
    }
  }

  // The thread was inside no operator since free_since_.
  void fill_gap(std::int64_t until_ns) {
    leave_frames(free_since_);
    if (until_ns <= free_since_) {
      return;
    }
    if (free_since_ == kForeverAgo || until_ns - free_since_ >= kLongHostNs) {
      append_piece(timeline_, {free_since_, kNoSignal, frame_of_gap(until_ns)});
    } else {
      const auto is_function = [&](const OpenFrame& frame) {
        return signs_.of_label[frame.label].is_frame;
      };
      const bool is_recorded = std::any_of(frames_.rbegin(), frames_.rend(), is_function) ||
                               std::any_of(left_frames_.begin(), left_frames_.end(), is_function);
      append_piece(timeline_, {free_since_, is_recorded ? number_of(Signal::kPython) : kDispatching,
                               update_at(free_since_)});
    }
  }

  // What took half of that time: a function called in it, else the innermost around it.
  [[nodiscard]] std::uint32_t frame_of_gap(std::int64_t until_ns) const {
    if (free_since_ == kForeverAgo) {
      return kNone;
    }
    const auto takes_half = [&](const OpenFrame& frame) {
      const std::int64_t from = std::max(frame.start_ns, free_since_);
      return frame.label != kNone &&
             2 * (std::min(frame.end_ns, until_ns) - from) >= until_ns - free_since_;
    };
    if (takes_half(longest_frame_)) {
      // XLA's recorder shows no function that is built in: one that still goes on may have slept.
      const bool may_sleep = longest_frame_.end_ns > until_ns &&
                             view_.timeline().labels()[longest_frame_.label].name.starts_with("$");
      return may_sleep ? kNone : longest_frame_.label;
    }
    const auto left = std::find_if(left_frames_.begin(), left_frames_.end(), takes_half);
    if (left != left_frames_.end()) {
      return left->label;
    }
    const auto around = std::find_if(frames_.rbegin(), frames_.rend(), takes_half);
    return around == frames_.rend() ? kNone : around->label;
  }

  void leave_frames(std::int64_t at_ns) {
    while (!frames_.empty() && frames_.back().end_ns <= at_ns) {
      if (open_.empty() && frames_.back().end_ns > free_since_ &&
          frames_.back().start_ns <= free_since_) {
        left_frames_.push_back(frames_.back());
      }
      frames_.pop_back();
    }
  }

  void enter_frame(const Span& span, std::size_t label) {
    close_until(span.start_ns);
    leave_frames(span.start_ns);
    // The mark of a step says of no moment in it what the host was at.
    if (view_.timeline().labels()[label].kind == SpanKind::kMark &&
        std::binary_search(step_starts_.begin(), step_starts_.end(), span.start_ns)) {
      return;
    }
    frames_.push_back({span.start_ns, span.end_ns(), static_cast<std::uint32_t>(label)});
    if (open_.empty() && (longest_frame_.label == kNone ||
                          span.duration_ns > longest_frame_.end_ns - longest_frame_.start_ns)) {
      longest_frame_ = frames_.back();
    }
  }

  const View& view_;
  const HostSigns& signs_;
  bool has_device_ = true;
  const std::vector<std::int64_t>& step_starts_;
  HostTimeline timeline_;
  std::vector<Open> open_;
  std::vector<OpenFrame> frames_;
  std::int64_t free_since_ = kForeverAgo;  // it is inside no operator
  OpenFrame longest_frame_;                // that began since then
  std::uint32_t update_ = kNone;           // a step of an optimizer, until then
  std::int64_t update_until_ = kForeverAgo;
  std::vector<OpenFrame> left_frames_;  // that were around it then, and have ended since
};

// At each moment the more specific of two.
HostTimeline more_specific_of(const HostTimeline& a, const HostTimeline& b) {
  HostTimeline both{{.start_ns = kForeverAgo}};
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const bool takes_a = j == b.size() || (i < a.size() && a[i].start_ns <= b[j].start_ns);
    const std::int64_t at = takes_a ? a[i].start_ns : b[j].start_ns;
    i += i < a.size() && a[i].start_ns == at ? std::size_t{1} : 0;
    j += j < b.size() && b[j].start_ns == at ? std::size_t{1} : 0;
    const HostPiece& first = a[i - 1];
    const HostPiece& second = b[j - 1];
    HostPiece piece = second.signal < first.signal ? second : first;
    if (piece.signal == kNoSignal && piece.what == kNone) {
      piece.what = second.what;
    }
    piece.start_ns = at;
    append_piece(both, piece);
  }
  return both;
}

std::vector<LaneId> launching_threads(const View& view, const RankLanes& rank) {
  std::vector<bool> counts(view.timeline().lanes().size());
  for (const LaneId lane : rank.streams) {
    for (const Span& span : view.timeline().spans_of(lane)) {
      const std::uint32_t call = view.call_of[view.number_of(span)];
      if (call != kNone) {
        counts[view.timeline().spans()[call].lane] = true;
      }
    }
  }
  std::vector<bool> is_step;
  for (const Label& label : view.timeline().labels()) {
    is_step.push_back(label.name.starts_with("ProfilerStep#"));
  }
  std::vector<LaneId> threads;
  for (const LaneId lane : rank.threads) {
    bool takes_part = counts[static_cast<std::size_t>(lane.value)] || !rank.has_device();
    for (const Span& span : view.timeline().spans_of(lane)) {
      takes_part = takes_part || is_step[label_at(view, span)];
      if (takes_part) {
        break;
      }
    }
    if (takes_part) {
      threads.push_back(lane);
    }
  }
  return threads.empty() ? rank.threads : threads;
}

}  // namespace

void append_piece(HostTimeline& timeline, const HostPiece& piece) {
  if (timeline.back().start_ns == piece.start_ns) {
    timeline.pop_back();
  }
  if (timeline.empty() || !timeline.back().is_alike(piece)) {
    timeline.push_back(piece);
  }
}

bool shows_waits(const View& view) {
  return std::ranges::any_of(view.traits, &LabelTraits::is_blocking) ||
         std::ranges::any_of(view.timeline().labels(),
                             [](const Label& label) { return label.name.starts_with("aten::"); });
}

HostThreads host_threads(const View& view, const RankLanes& rank, const RankSteps& steps) {
  const std::vector<LaneId> threads = launching_threads(view, rank);
  const HostSigns signs = host_signs(view, rank, threads);
  HostThreads answer;
  answer.all.assign(1, {.start_ns = kForeverAgo});
  std::vector<std::int64_t> step_starts;
  std::ranges::transform(steps.steps, std::back_inserter(step_starts),
                         [](const Step& step) { return step.host.start_ns; });
  std::ranges::sort(step_starts);
  for (const LaneId lane : threads) {
    answer.lanes.push_back(static_cast<std::uint32_t>(lane.value));
    answer.own.push_back(ThreadReader(view, signs, rank.has_device(), step_starts).read(lane));
    answer.all = more_specific_of(answer.all, answer.own.back());
  }
  answer.all = named_gaps(answer.all, steps);
  return answer;
}

}  // namespace sextant::metrics
