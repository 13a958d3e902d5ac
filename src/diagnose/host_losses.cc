#include "diagnose/host_losses.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "metrics/host_signs.h"
#include "metrics/signal_names.h"

namespace sextant::diagnose {
namespace {

using metrics::RankSummary;
using metrics::Signal;
using metrics::SignalRow;

// Devices are full where less than a twentieth is free: one more large tensor finds no room.
constexpr double kFull = 0.95;
// An optimizer without parameters of its own launches nothing either, and takes no time.
constexpr double kLeastUpdate = 0.01;
// The share of dispatching that recorded functions must have for the recorder to be its cause.
constexpr double kRecordedShare = 0.1;

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// What is known of a rank before its rows are told apart.
struct HostFacts {
  bool knows_loader = false;
  bool updates_on_host = false;
  bool has_retried = false;
  bool is_full = false;
  bool is_launching_recorded = false;
  std::int64_t python_ns = 0;  // of recorded functions between operators
};

std::int64_t sum_of(const RankSummary& rank, Signal signal,
                    std::int64_t (*amount)(const SignalRow&)) {
  std::int64_t sum = 0;
  for (const SignalRow& row : rank.signals) {
    sum += row.signal == signal ? amount(row) : 0;
  }
  return sum;
}

std::int64_t releases(const SignalRow& row) {
  return holds(row.what, "Free") || holds(row.what, "Unmap") || holds(row.what, "Release")
             ? row.time.count
             : 0;
}
std::int64_t idle(const SignalRow& row) {
  return row.idle_ns;
}
std::int64_t length(const SignalRow& row) {
  return row.time.total_ns;
}
std::int64_t count(const SignalRow& row) {
  return row.time.count;
}

HostFacts facts_of(const RankSummary& rank, std::optional<Bytes> device_memory) {
  HostFacts facts;
  const metrics::RankTotals total = rank.total();
  facts.knows_loader = sum_of(rank, Signal::kData, count) > 0;
  facts.updates_on_host =
      rank.has_device && static_cast<double>(sum_of(rank, Signal::kHostUpdate, idle)) >=
                             kLeastUpdate * static_cast<double>(total.time.total_ns());
  // One that frees after every use frees inside and outside of operators alike.
  facts.has_retried =
      sum_of(rank, Signal::kRetry, releases) > 0 &&
      sum_of(rank, Signal::kRetry, releases) >= sum_of(rank, Signal::kAllocation, releases);
  facts.is_full =
      total.memory && device_memory &&
      static_cast<double>(total.memory->reserved_bytes) >= kFull * device_memory->base();
  facts.python_ns = sum_of(rank, Signal::kPython, length);
  const std::int64_t python = sum_of(rank, Signal::kPython, idle);
  const std::int64_t dispatch =
      python + sum_of(rank, Signal::kDispatch, idle) + sum_of(rank, Signal::kLatency, idle);
  facts.is_launching_recorded =
      python > 0 && static_cast<double>(python) >= kRecordedShare * static_cast<double>(dispatch);
  return facts;
}

// Waiting, by the name of the function that was called.
bool is_waiting(std::string_view function) {
  constexpr std::array<std::string_view, 9> kWaits{"sleep",  "wait", "acquire", "recv", "poll",
                                                   "select", " get", " read",   "queue"};
  return std::any_of(kWaits.begin(), kWaits.end(),
                     [&](std::string_view word) { return holds(function, word); });
}

// Of each operator, and not what the recorder did by itself.
bool is_recording(const SignalRow& row) {
  return row.signal == Signal::kRecorder && row.what.empty();
}

struct RuleOfRow {
  HostRule rule;
  Status status;
};

// A function says what ran, a range around it or an operator where.
Status status_of_code(const SignalRow& row) {
  if (row.what.empty()) {
    return Status::kUnverified;
  }
  return metrics::is_frame(row.what) ? Status::kVerified : Status::kInferred;
}

// Loops fetch their batch between the mark of a step and its first operator.
RuleOfRow rule_of_step_start(const SignalRow& row, const HostFacts& facts) {
  if (!facts.knows_loader && (row.what.empty() || is_waiting(row.what))) {
    return {HostRule::kInput, Status::kInferred};
  }
  return {HostRule::kBusy, status_of_code(row)};
}

RuleOfRow rule_of_allocation(const SignalRow& row, const HostFacts& facts) {
  if (row.signal == Signal::kRetry && facts.has_retried) {
    return {HostRule::kMemoryLimit, Status::kVerified};
  }
  // What is asked for anew after a retry was given back by it.
  const bool follows = facts.has_retried || facts.is_full;
  return follows ? RuleOfRow{HostRule::kMemoryLimit, Status::kInferred}
                 : RuleOfRow{HostRule::kAllocator, Status::kVerified};
}

RuleOfRow rule_of_copy_in(const SignalRow& row, const HostFacts& facts) {
  const bool is_large = static_cast<double>(row.bytes) >
                        metrics::kSmallCopyBytes * static_cast<double>(row.time.count);
  return is_large && facts.updates_on_host ? RuleOfRow{HostRule::kOffload, Status::kVerified}
                                           : RuleOfRow{HostRule::kPageable, Status::kVerified};
}

RuleOfRow rule_of_compilation(const SignalRow& row) {
  const bool is_named = !holds(row.what, "Launch");
  return {HostRule::kCompilation, is_named ? Status::kVerified : Status::kInferred};
}

RuleOfRow rule_of_row(const SignalRow& row, const HostFacts& facts) {
  switch (row.signal) {
    case Signal::kCollection:
      return RuleOfRow{HostRule::kCollection, Status::kVerified};
    case Signal::kRecorder:
      return {HostRule::kRecorder, is_recording(row) ? Status::kInferred : Status::kVerified};
    case Signal::kData:
      return RuleOfRow{HostRule::kInput, Status::kVerified};
    case Signal::kCompilation:
      return rule_of_compilation(row);
    case Signal::kSave:
      return RuleOfRow{HostRule::kSave, Status::kVerified};
    case Signal::kRetry:
    case Signal::kAllocation:
      return rule_of_allocation(row, facts);
    case Signal::kHostUpdate:
      return RuleOfRow{HostRule::kOffload, Status::kVerified};
    case Signal::kCopyIn:
      return rule_of_copy_in(row, facts);
    case Signal::kCopyOut:
      return facts.updates_on_host ? RuleOfRow{HostRule::kOffload, Status::kVerified}
                                   : RuleOfRow{HostRule::kSave, Status::kInferred};
    case Signal::kSync:
      return RuleOfRow{HostRule::kSync, Status::kVerified};
    case Signal::kHeldUp:
      return RuleOfRow{HostRule::kContention, Status::kInferred};
    case Signal::kDispatch:
    case Signal::kLatency:
    case Signal::kPython:
      return {HostRule::kLaunch, Status::kVerified};
    case Signal::kStepStart:
      return rule_of_step_start(row, facts);
    case Signal::kHostCode:
    case Signal::kStepEnd:
      return RuleOfRow{HostRule::kBusy, status_of_code(row)};
    case Signal::kPinnedIn:
      return RuleOfRow{HostRule::kInput, Status::kInferred};
  }
  return {HostRule::kBusy, Status::kUnverified};
}

bool is_dispatching(Signal signal) {
  return signal == Signal::kDispatch || signal == Signal::kLatency || signal == Signal::kPython;
}

// A rank of CPUs launches nothing and waits for no device.
bool is_asked_of_cpus(HostRule rule) {
  return rule == HostRule::kInput || rule == HostRule::kCollection || rule == HostRule::kSave ||
         rule == HostRule::kCompilation || rule == HostRule::kBusy;
}

void add_evidence(const RankSummary& rank, const SignalRow& row, HostLoss& loss) {
  for (const metrics::Interval& time : row.longest) {
    const std::string what = row.what.empty() ? std::string(name_of(row.signal)) : row.what;
    loss.evidence.push_back({rank.rank, time, what});
  }
  std::ranges::stable_sort(loss.evidence, [](const Evidence& a, const Evidence& b) {
    return std::tuple(-a.time.length_ns(), a.time.start_ns) <
           std::tuple(-b.time.length_ns(), b.time.start_ns);
  });
  loss.evidence.resize(std::min(loss.evidence.size(), kMostEvidence));
}

void add_row(const RankSummary& rank, const SignalRow& row, const RuleOfRow& of, HostLoss& loss) {
  const std::int64_t before = loss.total_ns();
  const std::int64_t more = row.exposed_ns() + row.after_ns;
  loss.idle_ns += row.idle_ns + row.after_ns;
  loss.copy_ns += row.copy_ns;
  loss.stalls += is_dispatching(row.signal) ? 0 : row.time.count;
  loss.stall_ns += is_dispatching(row.signal) ? 0 : row.time.total_ns;
  loss.bytes += row.bytes;
  loss.in_update_ns += is_dispatching(row.signal) && !row.what.empty() ? row.idle_ns : 0;
  // Rows come by what they cost: the first names it and says how sure it is. What followed is
  // reckoned, not seen.
  if ((before == 0 && more > 0) || row.signal == Signal::kHostUpdate) {
    loss.what = row.what;
    loss.status =
        row.after_ns > row.exposed_ns() ? std::max(of.status, Status::kInferred) : of.status;
  }
  add_evidence(rank, row, loss);
}

// A compiler that chooses among kernels runs them to time them. Ranges of one lie within another:
// the one with most holds at least what all of them launched.
std::int64_t tried_ns(const RankSummary& rank) {
  std::int64_t most = 0;
  for (const metrics::RangeRow& range : rank.ranges) {
    if (metrics::signal_of_name(range.name) == Signal::kCompilation) {
      most = std::max(most, range.work_ns);
    }
  }
  return most;
}

// Without the recorder the host would launch earlier by the time that recorded functions take at
// most, hidden or not: as much of the late launches is its doing.
void blame_recorder(std::int64_t python_ns, HostLoss& launching, HostLoss& recorder) {
  const std::int64_t moved = std::min(python_ns, launching.idle_ns);
  launching.idle_ns -= moved;
  if (recorder.total_ns() < moved) {
    recorder.status = Status::kInferred;
    recorder.evidence = launching.evidence;
  }
  recorder.idle_ns += moved;
}

}  // namespace

std::string_view rule_id(HostRule rule) {
  constexpr std::array<std::string_view, kHostRules> kIds{
      "input-bound",     "launch-bound",     "host-sync",         "python-gc",
      "allocator-churn", "hbm-near-limit",   "pageable-copies",   "profiler-overhead",
      "recompilation",   "checkpoint-stall", "optimizer-offload", "cpu-contention",
      "host-busy"};
  return kIds[static_cast<std::size_t>(rule)];
}

HostLosses host_losses(const RankSummary& rank, std::optional<Bytes> device_memory) {
  const HostFacts facts = facts_of(rank, device_memory);
  HostLosses losses{.by_rule = {},
                    .knows_loader = facts.knows_loader,
                    .is_launching_recorded = facts.is_launching_recorded};
  std::int64_t after = 0;
  for (const SignalRow& row : rank.signals) {
    const RuleOfRow of = rule_of_row(row, facts);
    if (is_recording(row)) {
      losses.recorded_ns += row.idle_ns;
      if (!facts.is_launching_recorded) {
        continue;
      }
    }
    if (rank.has_device || is_asked_of_cpus(of.rule)) {
      add_row(rank, row, of, losses.by_rule[static_cast<std::size_t>(of.rule)]);
    }
    after += is_dispatching(row.signal) ? 0 : row.after_ns;
  }
  HostLoss& compilation = losses.by_rule[static_cast<std::size_t>(HostRule::kCompilation)];
  if (compilation.total_ns() > 0) {
    compilation.work_ns = std::min(tried_ns(rank), rank.total().time.compute_ns);
  }
  // Late launches that follow a stall are the stall's, not the pace of launching.
  HostLoss& launching = losses.by_rule[static_cast<std::size_t>(HostRule::kLaunch)];
  launching.idle_ns = std::max<std::int64_t>(0, launching.idle_ns - after);
  if (facts.is_launching_recorded) {
    blame_recorder(facts.python_ns, launching,
                   losses.by_rule[static_cast<std::size_t>(HostRule::kRecorder)]);
  }
  return losses;
}

}  // namespace sextant::diagnose
