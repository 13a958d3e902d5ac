#include "metrics/critical_path.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>

#include "metrics/host_waits.h"

namespace sextant::metrics {
namespace {

using timeline::LaneId;
using timeline::Span;
using timeline::SpanKind;

Bound bound_of(SpanKind kind) {
  if (kind == SpanKind::kCommunication) {
    return Bound::kCommunication;
  }
  return kind == SpanKind::kCopy ? Bound::kCopy : Bound::kCompute;
}

// The work of each stream, looked up from the end of the recording to its start.
class StreamCursors {
 public:
  StreamCursors(const View& view, const RankLanes& rank) : view_(view), streams_(rank.streams) {
    for (const LaneId lane : streams_) {
      at_.push_back(view.timeline().spans_of(lane).size());
    }
  }

  // The last span of work on the stream that began before the moment; null: none.
  // REQUIRES: moments of calls never grow.
  const Span* begun_before(std::size_t stream, std::int64_t at_ns) {
    const std::span<const Span> spans = view_.timeline().spans_of(streams_[stream]);
    while (at_[stream] > 0 && !is_begun(spans[at_[stream] - 1], at_ns)) {
      --at_[stream];
    }
    return at_[stream] == 0 ? nullptr : &spans[at_[stream] - 1];
  }
  // The last that ended by the moment: that one, or the one before it where it still runs.
  const Span* ended_by(std::size_t stream, std::int64_t at_ns) {
    const Span* begun = begun_before(stream, at_ns);
    return begun != nullptr && begun->end_ns() > at_ns ? before(*begun) : begun;
  }
  // The work before it on its stream; null: none.
  [[nodiscard]] const Span* before(const Span& span) const {
    const std::span<const Span> all = view_.timeline().spans();
    for (std::uint32_t i = view_.number_of(span); i > 0 && all[i - 1].lane == span.lane; --i) {
      if (is_path(all[i - 1])) {
        return &all[i - 1];
      }
    }
    return nullptr;
  }
  [[nodiscard]] std::size_t size() const { return streams_.size(); }
  [[nodiscard]] LaneId lane(std::size_t stream) const { return streams_[stream]; }

 private:
  // What takes no time makes nobody wait.
  [[nodiscard]] bool is_path(const Span& span) const {
    return span.duration_ns > 0 && view_.traits_of(span).is_work;
  }
  [[nodiscard]] bool is_begun(const Span& span, std::int64_t at_ns) const {
    return span.start_ns < at_ns && is_path(span);
  }
  const View& view_;
  const std::vector<LaneId>& streams_;
  std::vector<std::size_t> at_;
};

// Which streams a stream was told to wait for, and when.
struct RecordedWait {
  std::int64_t at_ns = 0;
  std::optional<StreamId> on;
};

class PathWalker {
 public:
  PathWalker(const View& view, const RankLanes& rank, bool with_pieces)
      : view_(view), cursors_(view, rank), host_waits_(view, rank), with_pieces_(with_pieces) {
    for (const timeline::StreamWait& wait : view.recording->waits) {
      if (wait.rank == rank.rank && !wait.blocks_host) {
        waits_[wait.stream].push_back({wait.at_ns, wait.waited_on});
      }
    }
  }

  CriticalPath walk(const Interval& window) {
    path_ = {};
    window_ = window;
    at_ns_ = window.end_ns;
    if (const Span* last = last_work()) {
      emit(std::min(last->end_ns(), at_ns_), Bound::kHost, kNone);
      while (last != nullptr && at_ns_ > window_.start_ns) {
        last = through(*last);
      }
    }
    emit(window_.start_ns, Bound::kHost, kNone);
    std::reverse(path_.pieces.begin(), path_.pieces.end());
    return std::move(path_);
  }

 private:
  // From at_ns_ back to the moment.
  void emit(std::int64_t from_ns, Bound bound, std::uint32_t span) {
    const std::int64_t from = std::clamp(from_ns, window_.start_ns, at_ns_);
    if (from < at_ns_) {
      path_.by_bound_ns[static_cast<std::size_t>(bound)] += at_ns_ - from;
      if (with_pieces_) {
        path_.pieces.push_back({{from, at_ns_}, bound, span});
      }
      at_ns_ = from;
    }
  }

  // Running at the end of the window, or the last to have ended before it.
  const Span* last_work() {
    const Span* last = nullptr;
    for (std::size_t i = 0; i < cursors_.size(); ++i) {
      const Span* begun = cursors_.begun_before(i, at_ns_);
      if (begun != nullptr && begun->end_ns() > window_.start_ns &&
          (last == nullptr ||
           std::min(begun->end_ns(), at_ns_) > std::min(last->end_ns(), at_ns_) ||
           (ends_window(*begun) && !ends_window(*last)))) {
        last = begun;
      }
    }
    return last;
  }
  [[nodiscard]] bool ends_window(const Span& span) const { return span.end_ns() == window_.end_ns; }

  // Through the span to what made it begin when it did; null: the path has ended.
  const Span* through(const Span& span) {
    emit(span.start_ns, bound_of(view_.timeline().label_of(span).kind), view_.number_of(span));
    const Span* before = cursors_.before(span);
    const std::uint32_t call_number = view_.call_of[view_.number_of(span)];
    const Span* call = call_number == kNone ? nullptr : &view_.timeline().spans()[call_number];
    const std::int64_t stream_ready =
        before == nullptr ? -timeline::Timeline::kFarthestNs : before->end_ns();
    const std::int64_t call_ready =
        call == nullptr ? -timeline::Timeline::kFarthestNs : std::min(call->end_ns(), at_ns_);
    if (const Span* other = waited_for(span, before, call, std::max(stream_ready, call_ready))) {
      emit(other->end_ns(), Bound::kDependency, kNone);
      return other;
    }
    if (call != nullptr && call_ready > stream_ready) {
      emit(call->start_ns, Bound::kLaunch, view_.number_of(*call));
      return along_host(&span);
    }
    if (before != nullptr) {
      emit(stream_ready, call == nullptr ? Bound::kUnknown : Bound::kBetweenKernels, kNone);
    } else {
      emit(window_.start_ns, Bound::kUnknown, kNone);
    }
    return before;
  }

  // The work of another stream that ended last before the span began, if that was after the moment
  // at which nothing else held the span up.
  const Span* waited_for(const Span& span, const Span* before, const Span* call,
                         std::int64_t ready_ns) {
    if (ready_ns >= span.start_ns) {
      return nullptr;
    }
    const Span* last = nullptr;
    for (std::size_t i = 0; i < cursors_.size(); ++i) {
      if (cursors_.lane(i).value == static_cast<std::int64_t>(span.lane) ||
          !may_wait(span, before, call, i)) {
        continue;
      }
      const Span* other = cursors_.ended_by(i, span.start_ns);
      if (other != nullptr && other->end_ns() > ready_ns && other->end_ns() <= span.start_ns &&
          (last == nullptr || other->end_ns() > last->end_ns())) {
        last = other;
      }
    }
    path_.assumed_waits += last != nullptr && !view_.recording->has_sync_events ? 1 : 0;
    return last;
  }

  // A wait on that stream was recorded since the span before was launched; where none are recorded
  // at all, any may have been.
  [[nodiscard]] bool may_wait(const Span& span, const Span* before, const Span* call,
                              std::size_t other) const {
    if (!view_.recording->has_sync_events || call == nullptr) {
      return !view_.recording->has_sync_events;
    }
    const auto found = waits_.find(view_.timeline().lane_of(span).stream);
    if (found == waits_.end()) {
      return false;
    }
    const std::uint32_t earlier =
        before == nullptr ? kNone : view_.call_of[view_.number_of(*before)];
    const std::int64_t since = earlier == kNone ? -timeline::Timeline::kFarthestNs
                                                : view_.timeline().spans()[earlier].start_ns;
    const auto first =
        std::partition_point(found->second.begin(), found->second.end(),
                             [&](const RecordedWait& wait) { return wait.at_ns < since; });
    const StreamId stream =
        view_.timeline().lanes()[static_cast<std::size_t>(cursors_.lane(other).value)].stream;
    return std::any_of(
        first,
        std::partition_point(
            first, found->second.end(),
            [&](const RecordedWait& wait) { return wait.at_ns <= call->end_ns(); }),
        [&](const RecordedWait& wait) { return wait.on.value_or(stream) == stream; });
  }

  // Back along the host from the call that launched the span: to where the host waited for the
  // device, and to the work it waited for; or to work that had been queued behind other work: until
  // that was done the device was behind, not the host.
  const Span* along_host(const Span* launched) {
    while (at_ns_ > window_.start_ns) {
      const Span* before = cursors_.before(*launched);
      const Span* call = before == nullptr ? nullptr : call_of(*before);
      const bool was_queued = call != nullptr && is_queued(*before, *call);
      const std::int64_t reached =
          before == nullptr ? window_.start_ns
                            : (was_queued || call == nullptr ? before->end_ns() : call->start_ns);
      const Interval* wait = host_waits_.last_before(at_ns_);
      if (wait != nullptr && wait->end_ns > std::max(reached, window_.start_ns)) {
        emit(wait->end_ns, Bound::kHost, kNone);
        if (const Span* awaited = ended_within(*wait)) {
          emit(awaited->end_ns(), Bound::kSync, kNone);
          return awaited;
        }
      }
      emit(reached, Bound::kHost, kNone);
      if (before == nullptr || was_queued || call == nullptr) {
        return before;
      }
      launched = before;
    }
    return nullptr;
  }
  [[nodiscard]] const Span* call_of(const Span& span) const {
    const std::uint32_t call = view_.call_of[view_.number_of(span)];
    return call == kNone ? nullptr : &view_.timeline().spans()[call];
  }
  // Its call had ended when the work before it on the stream still ran.
  [[nodiscard]] bool is_queued(const Span& span, const Span& call) const {
    const Span* before = cursors_.before(span);
    return before != nullptr && before->end_ns() >= call.end_ns();
  }

  const Span* ended_within(const Interval& wait) {
    const Span* last = nullptr;
    for (std::size_t i = 0; i < cursors_.size(); ++i) {
      const Span* span = cursors_.ended_by(i, at_ns_);
      if (span != nullptr && span->end_ns() > wait.start_ns &&
          (last == nullptr || span->end_ns() > last->end_ns())) {
        last = span;
      }
    }
    return last;
  }

  const View& view_;
  StreamCursors cursors_;
  HostWaits host_waits_;
  std::map<StreamId, std::vector<RecordedWait>> waits_;  // by time
  bool with_pieces_ = false;
  CriticalPath path_;
  Interval window_;
  std::int64_t at_ns_ = 0;
};

}  // namespace

std::string_view name_of(Bound bound) {
  constexpr std::array<std::string_view, kBounds> kNames{
      "compute",    "communication", "copy", "between_kernels", "launch",
      "dependency", "host",          "sync", "unknown"};
  return kNames[static_cast<std::size_t>(bound)];
}

std::int64_t CriticalPath::total_ns() const {
  std::int64_t total = 0;
  for (const std::int64_t time : by_bound_ns) {
    total += time;
  }
  return total;
}

std::vector<CriticalPath> critical_paths(const View& view, const RankLanes& rank,
                                         const RankSteps& steps, bool with_pieces) {
  std::vector<CriticalPath> paths;
  PathWalker walker(view, rank, with_pieces);
  // From the last step to the first: the walk looks for what came before, and never looks back.
  for (const Step& step : std::views::reverse(steps.steps)) {
    if (step.is_kept) {
      paths.push_back(walker.walk(step.window));
    }
  }
  std::reverse(paths.begin(), paths.end());
  return paths;
}

}  // namespace sextant::metrics
