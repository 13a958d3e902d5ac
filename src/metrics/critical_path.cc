#include "metrics/critical_path.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

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

// The work of a rank's device: what runs at a moment, what has ended by then, what came before.
class BusyDevice {
 public:
  BusyDevice(const View& view, const RankLanes& rank) : view_(view) {
    std::vector<Moment> starts;
    for (const LaneId lane : rank.streams) {
      for (const Span& span : view.timeline().spans_of(lane)) {
        if (is_path(span)) {
          starts.push_back({span.start_ns, view.number_of(span)});
          ends_.push_back({span.end_ns(), view.number_of(span)});
        }
      }
    }
    const auto in_order = [](const Moment& a, const Moment& b) {
      return std::tuple(a.at_ns, b.span) < std::tuple(b.at_ns, a.span);
    };
    std::sort(starts.begin(), starts.end(), in_order);
    std::sort(ends_.begin(), ends_.end(), in_order);
    for (const Moment& start : starts) {
      const bool is_longer =
          longest_.empty() || span(start).end_ns() > span(longest_.back()).end_ns();
      longest_.push_back({start.at_ns, is_longer ? start.span : longest_.back().span});
    }
  }

  // The last to end of what began before the moment; null: nothing did.
  [[nodiscard]] const Span* begun_before(std::int64_t at_ns) const {
    const auto after = std::partition_point(longest_.begin(), longest_.end(),
                                            [&](const Moment& one) { return one.at_ns < at_ns; });
    return after == longest_.begin() ? nullptr : &span(*std::prev(after));
  }
  // How much has ended by the moment, and what: the first of these to end is number 0. Of what ends
  // together that of the first stream comes last.
  [[nodiscard]] std::size_t ended_by(std::int64_t at_ns) const {
    return static_cast<std::size_t>(
        std::partition_point(ends_.begin(), ends_.end(),
                             [&](const Moment& one) { return one.at_ns <= at_ns; }) -
        ends_.begin());
  }
  [[nodiscard]] const Span& ended(std::size_t number) const { return span(ends_[number]); }
  // The last that ended by the moment; null: nothing did.
  [[nodiscard]] const Span* last_ended_by(std::int64_t at_ns) const {
    const std::size_t count = ended_by(at_ns);
    return count == 0 ? nullptr : &ended(count - 1);
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

 private:
  struct Moment {
    std::int64_t at_ns = 0;
    std::uint32_t span = 0;
  };
  // What takes no time makes nobody wait.
  [[nodiscard]] bool is_path(const Span& span) const {
    return span.duration_ns > 0 && view_.traits_of(span).is_work;
  }
  [[nodiscard]] const Span& span(const Moment& moment) const {
    return view_.timeline().spans()[moment.span];
  }
  const View& view_;
  std::vector<Moment> ends_;
  std::vector<Moment> longest_;  // of what began by each start, what ends last
};

// Which streams a stream was told to wait for, and when.
struct RecordedWait {
  std::int64_t at_ns = 0;
  std::optional<StreamId> on;
};

class PathWalker {
 public:
  PathWalker(const View& view, const RankLanes& rank, bool with_pieces)
      : view_(view), work_(view, rank), host_waits_(view, rank), with_pieces_(with_pieces) {
    for (const timeline::StreamWait& wait : of_rank(view.recording->waits, rank.rank)) {
      if (!wait.blocks_host) {
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

  // What ends with the window; else what runs at its end, or was the last to end before.
  const Span* last_work() {
    const Span* last = work_.last_ended_by(at_ns_);
    if (last == nullptr || last->end_ns() < at_ns_) {
      last = work_.begun_before(at_ns_);
    }
    return last != nullptr && last->end_ns() > window_.start_ns ? last : nullptr;
  }

  // Through the span to what made it begin when it did; null: the path has ended.
  const Span* through(const Span& span) {
    emit(span.start_ns, bound_of(view_.timeline().label_of(span).kind), view_.number_of(span));
    const Span* before = work_.before(span);
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
  // at which nothing else held the span up. What ended between is looked at once: the path goes on
  // from before it.
  const Span* waited_for(const Span& span, const Span* before, const Span* call,
                         std::int64_t ready_ns) {
    const WaitedStreams waited = waited_streams(span, before, call);
    for (std::size_t i = work_.ended_by(span.start_ns); i > 0; --i) {
      const Span& other = work_.ended(i - 1);
      if (other.end_ns() <= ready_ns) {
        break;
      }
      if (other.lane != span.lane && waited.has(view_.timeline().lane_of(other).stream)) {
        path_.assumed_waits += view_.recording->has_sync_events ? 0 : 1;
        return &other;
      }
    }
    return nullptr;
  }

  struct WaitedStreams {
    bool any = false;
    std::vector<StreamId> streams;  // in order
    [[nodiscard]] bool has(StreamId stream) const {
      return any || std::binary_search(streams.begin(), streams.end(), stream);
    }
  };

  // Those for which a wait was recorded since the span before was launched; where none are recorded
  // at all, any may have been.
  [[nodiscard]] WaitedStreams waited_streams(const Span& span, const Span* before,
                                             const Span* call) const {
    if (!view_.recording->has_sync_events) {
      return {.any = true, .streams = {}};
    }
    WaitedStreams waited;
    const auto found = waits_.find(view_.timeline().lane_of(span).stream);
    if (call == nullptr || found == waits_.end()) {
      return waited;
    }
    const Span* earlier = before == nullptr ? nullptr : call_of(*before);
    const std::int64_t since =
        earlier == nullptr ? -timeline::Timeline::kFarthestNs : earlier->start_ns;
    auto wait = std::partition_point(found->second.begin(), found->second.end(),
                                     [&](const RecordedWait& one) { return one.at_ns < since; });
    for (; wait != found->second.end() && wait->at_ns <= call->end_ns(); ++wait) {
      if (const std::optional<StreamId> on = wait->on) {
        waited.streams.push_back(*on);
      } else {
        waited.any = true;
      }
    }
    std::sort(waited.streams.begin(), waited.streams.end());
    return waited;
  }

  // Back along the host from the call that launched the span: to where the host waited for the
  // device, and to the work it waited for; or to work that had been queued behind other work: until
  // that was done the device was behind, not the host.
  const Span* along_host(const Span* launched) {
    while (at_ns_ > window_.start_ns) {
      const Span* before = work_.before(*launched);
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
    const Span* before = work_.before(span);
    return before != nullptr && before->end_ns() >= call.end_ns();
  }

  const Span* ended_within(const Interval& wait) {
    const Span* last = work_.last_ended_by(at_ns_);
    return last != nullptr && last->end_ns() > wait.start_ns ? last : nullptr;
  }

  const View& view_;
  BusyDevice work_;
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
  for (const Step& step : steps.steps) {
    if (step.is_kept) {
      paths.push_back(walker.walk(step.window));
    }
  }
  return paths;
}

}  // namespace sextant::metrics
