// What one rank's signals (metrics/signals.h) mean to the rules about the host: which rule each
// moment belongs to, and what mending that can gain of this rank's kept steps at most.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "diagnose/finding.h"
#include "metrics/summary.h"

namespace sextant::diagnose {

enum class HostRule : std::uint8_t {
  kInput,
  kLaunch,
  kSync,
  kCollection,
  kAllocator,
  kMemoryLimit,
  kPageable,
  kRecorder,
  kCompilation,
  kSave,
  kOffload,
  kContention,
  kBusy,
};
inline constexpr std::size_t kHostRules = 13;
std::string_view rule_id(HostRule rule);  // "input-bound"

// Of all kept steps of a rank, in nanoseconds.
struct HostLoss {
  std::int64_t idle_ns = 0;       // what followed the stalls included
  std::int64_t copy_ns = 0;       // exposed
  std::int64_t work_ns = 0;       // of the device, for it: kernels that a compiler only tries
  std::int64_t stalls = 0;        // how many there were
  std::int64_t stall_ns = 0;      // how long they took themselves
  std::int64_t bytes = 0;         // that were copied for it
  std::string what;               // of the row that cost most
  std::int64_t in_update_ns = 0;  // of launching: within an optimizer's step
  Status status = Status::kInferred;
  std::vector<Evidence> evidence;  // longest first, at most kMostEvidence

  [[nodiscard]] std::int64_t total_ns() const { return idle_ns + copy_ns + work_ns; }
};

struct HostLosses {
  std::array<HostLoss, kHostRules> by_rule{};
  // The loader, or what fetches a batch, is in the profile.
  bool knows_loader = false;
  // Functions of Python are, and stand in the way of launches.
  bool is_launching_recorded = false;
  // Of idle time: what recording each operator costs. Where functions were recorded too, it is the
  // recorder's loss; else of nobody's, since a run without a profiler has none of it.
  std::int64_t recorded_ns = 0;
  [[nodiscard]] const HostLoss& of(HostRule rule) const {
    return by_rule[static_cast<std::size_t>(rule)];
  }
};
// `device_memory`: of the rank's device, where known.
HostLosses host_losses(const metrics::RankSummary& rank, std::optional<Bytes> device_memory);

}  // namespace sextant::diagnose
