// Who waited for what: the host for a stream or an event, a stream for an event of another.
#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "profile/nsys_parts.h"

namespace sextant::profile {
namespace {

// Nsight's word for no stream: 2^32 - 1.
constexpr std::int64_t kNoStream = 4294967295;

}  // namespace

// Exports of different versions number the kinds of waiting differently; calls have names.
NsysWaitKind NsysReading::wait_kind(std::string_view call) {
  constexpr std::array<std::pair<std::string_view, NsysWaitKind>, 6> kWords{
      {{"StreamWaitEvent", NsysWaitKind::kStreamForEvent},
       {"StreamSynchronize", NsysWaitKind::kHostForStream},
       {"EventSynchronize", NsysWaitKind::kHostForEvent},
       {"EventQuery", NsysWaitKind::kNone},
       {"DeviceSynchronize", NsysWaitKind::kHostForAll},
       {"CtxSynchronize", NsysWaitKind::kHostForAll}}};
  for (const auto& [word, kind] : kWords) {
    if (call.find(word) != std::string_view::npos) {
      return kind;
    }
  }
  return NsysWaitKind::kUnknown;
}

// These rows say device 0 of processes that have another one only.
std::optional<RankId> NsysReading::rank_of_wait(NsysProcess process, std::int64_t device) const {
  const auto ranks = ranks_of_.find(process);
  return ranks != ranks_of_.end() && ranks->second.size() == 1 ? ranks->second.front()
                                                               : rank_of(process, device);
}

void NsysReading::read_waits() {
  // Source: ENUM_CUPTI_SYNC_TYPE of an export.
  constexpr std::array<NsysWaitKind, 5> kKinds{
      NsysWaitKind::kUnknown, NsysWaitKind::kHostForEvent, NsysWaitKind::kStreamForEvent,
      NsysWaitKind::kHostForStream, NsysWaitKind::kHostForAll};
  for_each("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
           {"start", "end", "deviceId", "streamId", "globalPid", "correlationId", "syncType",
            "eventSyncId"},
           [&](const DatabaseRow& row) {
             const auto time = times(row, "waits");
             const NsysProcess process = nsys_process(row.integer(4).value_or(0));
             const auto rank = rank_of_wait(process, row.integer(2).value_or(-1));
             if (!time || !rank || waits_.size() >= kMostNsysWaits) {
               losses_.add("waits of processes that ran no kernel on the device", time ? 1 : 0);
               return;
             }
             Wait wait;
             wait.wait.rank = *rank;
             wait.wait.at_ns = time->first;
             wait.wait.duration_ns = time->second - time->first;
             const std::int64_t stream = row.integer(3).value_or(kNoStream);
             wait.wait.stream = {stream == kNoStream ? -1 : stream};
             if (const auto correlation = row.integer(5); correlation && *correlation != 0) {
               wait.wait.correlation = timeline::CorrelationId{*correlation};
             }
             wait.call = {process, row.integer(5).value_or(0)};
             const std::int64_t kind = row.integer(6).value_or(0);
             wait.kind = kind > 0 && kind < static_cast<std::int64_t>(kKinds.size())
                             ? kKinds[static_cast<std::size_t>(kind)]
                             : NsysWaitKind::kUnknown;
             const std::int64_t event = row.integer(7).value_or(kNoStream);
             wait.event = event == kNoStream ? 0 : event;
             if (wait.call.correlation != 0) {
               wait_calls_.try_emplace(wait.call, NsysWaitKind::kUnknown);
             }
             waits_.push_back(wait);
           });
  out_.has_sync_events = !waits_.empty();
}

void NsysReading::note_wait_call(const NsysCall& call, NsysWaitKind kind) {
  if (kind == NsysWaitKind::kUnknown) {
    return;
  }
  if (const auto asked = wait_calls_.find(call); asked != wait_calls_.end()) {
    asked->second = kind;
  }
}

void NsysReading::resolve_waits() {
  // Who recorded the event: joined by eventSyncId, since an eventId is recorded again and again.
  struct Recorded {
    bool is_known = false;
    std::int64_t stream = 0;
    std::int64_t correlation = 0;
  };
  std::unordered_map<NsysCall, Recorded, NsysCallHash> events;
  for (const Wait& wait : waits_) {
    if (wait.event != 0) {
      events.try_emplace({wait.call.process, wait.event});
    }
  }
  for_each("CUPTI_ACTIVITY_KIND_CUDA_EVENT",
           {"globalPid", "eventSyncId", "streamId", "correlationId"}, [&](const DatabaseRow& row) {
             const auto asked = events.find(
                 {nsys_process(row.integer(0).value_or(0)), row.integer(1).value_or(0)});
             if (const auto stream = row.integer(2); stream && asked != events.end()) {
               asked->second = {true, *stream, row.integer(3).value_or(0)};
             }
           });
  for (Wait& wait : waits_) {
    const auto called = wait_calls_.find(wait.call);
    if (called != wait_calls_.end() && called->second != NsysWaitKind::kUnknown) {
      wait.kind = called->second;
    }
    if (wait.kind == NsysWaitKind::kNone) {
      continue;
    }
    if (wait.kind == NsysWaitKind::kUnknown) {
      losses_.add("waits of unknown kinds");
      continue;
    }
    wait.wait.blocks_host = wait.kind != NsysWaitKind::kStreamForEvent;
    const auto event = events.find({wait.call.process, wait.event});
    if (event != events.end() && event->second.is_known) {
      wait.wait.waited_on = StreamId{event->second.stream};
      if (event->second.correlation != 0) {
        wait.wait.recorded_by = timeline::CorrelationId{event->second.correlation};
      }
    }
    if (wait.kind == NsysWaitKind::kHostForAll) {
      wait.wait.stream = {-1};
    } else if (wait.kind == NsysWaitKind::kHostForEvent && wait.wait.waited_on) {
      wait.wait.stream = *wait.wait.waited_on;
    }
    out_.waits.push_back(wait.wait);
  }
  std::stable_sort(out_.waits.begin(), out_.waits.end(), [](const auto& a, const auto& b) {
    return std::tie(a.rank, a.at_ns) < std::tie(b.rank, b.at_ns);
  });
}

}  // namespace sextant::profile
