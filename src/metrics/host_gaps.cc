#include "metrics/host_gaps.h"

#include <algorithm>
#include <utility>

namespace sextant::metrics {
namespace {

constexpr std::uint8_t gap_signal(Signal signal) {
  return static_cast<std::uint8_t>(signal);
}

constexpr std::uint8_t kGapDispatch = gap_signal(Signal::kDispatch);

// Names the times at which all threads were inside nothing: beside the marks of steps, in between,
// or not for long.
class GapNamer {
 public:
  explicit GapNamer(const RankSteps& steps)
      : steps_(steps), is_marked_(steps.basis == StepBasis::kMarkers) {}

  HostTimeline named(const HostTimeline& all) {
    for (std::size_t i = 0; i < all.size();) {
      if (all[i].signal != kNoSignal) {
        if (all[i].signal == gap_signal(Signal::kCopyOut)) {
          copied_until_ = i + 1 < all.size() ? all[i + 1].start_ns : kForever;
          copied_by_ = all[i].what;
        }
        append_piece(named_, all[i++]);
        continue;
      }
      const std::size_t first = i;
      while (i < all.size() && all[i].signal == kNoSignal) {
        ++i;
      }
      const std::int64_t until = i < all.size() ? all[i].start_ns : kForever;
      next_ = copy_after(all, i);
      add_gap(all[first].start_ns, until, name_of_longest(all, first, i, until));
    }
    return std::move(named_);
  }

 private:
  static constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

  static std::uint32_t name_of_longest(const HostTimeline& all, std::size_t first, std::size_t last,
                                       std::int64_t until_ns) {
    std::size_t longest = first;
    const auto length = [&](std::size_t i) {
      const std::int64_t from = std::max(all[i].start_ns, -timeline::Timeline::kFarthestNs);
      const std::int64_t to = i + 1 < last ? all[i + 1].start_ns : until_ns;
      return std::min(to, timeline::Timeline::kFarthestNs) - from;
    };
    for (std::size_t i = first; i < last; ++i) {
      longest = length(i) > length(longest) ? i : longest;
    }
    return all[longest].what;
  }

  // A copy to the host that begins soon, with nothing but dispatching before it.
  static HostPiece copy_after(const HostTimeline& all, std::size_t i) {
    const std::int64_t from = i < all.size() ? all[i].start_ns : 0;
    while (i < all.size() && all[i].signal == kGapDispatch) {
      ++i;
    }
    const bool is_soon = i < all.size() && all[i].start_ns - from < kLongHostNs;
    return is_soon && all[i].signal == gap_signal(Signal::kCopyOut) ? all[i] : HostPiece();
  }

  void add_gap(std::int64_t from_ns, std::int64_t until_ns, std::uint32_t what) {
    if (from_ns != kForeverAgo && until_ns != kForever && until_ns - from_ns < kLongHostNs) {
      append_piece(named_, {from_ns, gap_signal(Signal::kDispatch)});
      return;
    }
    while (step_ < steps_.steps.size() && steps_.steps[step_].host.start_ns < from_ns) {
      ++step_;
    }
    const bool holds_mark =
        is_marked_ && step_ < steps_.steps.size() && steps_.steps[step_].host.start_ns <= until_ns;
    const bool is_end = holds_mark || (is_marked_ && until_ns == kForever);
    // What was just copied to the host is written somewhere; a file is opened before.
    const bool is_copied = copied_until_ <= from_ns && from_ns < copied_until_ + kLongHostNs;
    if (is_copied || (next_.signal != kNoSignal && !is_end)) {
      append_piece(named_,
                   {from_ns, gap_signal(Signal::kCopyOut), is_copied ? copied_by_ : next_.what});
      copied_until_ = is_copied ? until_ns : copied_until_;
    } else {
      append_piece(named_,
                   {from_ns, gap_signal(is_end ? Signal::kStepEnd : Signal::kHostCode), what});
    }
    if (holds_mark) {
      append_piece(named_,
                   {steps_.steps[step_].host.start_ns, gap_signal(Signal::kStepStart), what});
    }
  }

  const RankSteps& steps_;
  bool is_marked_ = false;
  HostTimeline named_{{.start_ns = kForeverAgo}};
  std::size_t step_ = 0;
  std::int64_t copied_until_ = -timeline::Timeline::kFarthestNs;  // to the host, last
  std::uint32_t copied_by_ = kNone;
  HostPiece next_;  // the copy to the host that follows the gap
};

}  // namespace

HostTimeline named_gaps(const HostTimeline& all, const RankSteps& steps) {
  return GapNamer(steps).named(all);
}

}  // namespace sextant::metrics
