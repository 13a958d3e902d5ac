// Every message of a training step, as the framework issues it. docs/models/traffic.md has the
// rules for each axis and framework.
//
// Two forms of one generator: a list, to be shown and laid on ranks (groups.h, matrix.h), and
// totals for a search, without lists or allocation. They agree by construction.
//
// Messages are those of one rank. Where ranks of a stage differ (uneven experts, the last shard of
// a padded parameter), they are the mean or the first rank's.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"
#include "describe/layout/job.h"
#include "workload/collective.h"
#include "workload/shard.h"
#include "workload/stages.h"

namespace sextant::workload {

// Where tokens go. Uniform: every expert gets the same share.
struct Routing {
  // Tokens that the busiest expert-parallel rank receives, over the mean of all. At least 1.
  double hottest = 1.0;
  // Measured: [i · ep + j] is the share of rank i's tokens sent to rank j, each row summing to 1.
  // Empty: uniform. Used by the communication matrix; `hottest` follows from it.
  std::vector<double> shares;
};

// The Routing of measured shares: `hottest` is the largest column sum.
// REQUIRES: shares.size() = ep · ep, ep ≥ 1.
Routing measured_routing(std::vector<double> shares, std::int64_t ep);

// All that a rank of this stage issues in one step, in the order of its first microbatch, counts
// per step. REQUIRES: check_rules(job) finds nothing; stage and shard are its.
std::vector<Collective> step_collectives(const describe::Job& job, const Stage& stage,
                                         const Shard& shard, const Routing& routing = {});
// The same for all stages, in model order.
std::vector<Collective> step_collectives(const describe::Job& job, const Routing& routing = {});

// Calls and bytes of one kind of group.
struct GroupTraffic {
  double calls = 0.0;
  Bytes payload;  // Collective::payload_bytes
  Bytes wire;     // Collective::wire_bytes
  constexpr GroupTraffic& operator+=(const GroupTraffic& other) {
    calls += other.calls;
    payload += other.payload;
    wire += other.wire;
    return *this;
  }
};

struct TrafficTotals {
  std::array<GroupTraffic, kGroupKindWords.size()> groups;  // by GroupKind

  [[nodiscard]] constexpr GroupTraffic& at(GroupKind kind) {
    return groups[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] constexpr const GroupTraffic& at(GroupKind kind) const {
    return groups[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] GroupTraffic all() const;
  void add(const TrafficTotals& other, double times);
};

TrafficTotals totals_of(std::span<const Collective> collectives);

// One rank of one stage. `layout` stands in for the job's own.
TrafficTotals stage_traffic(const describe::Job& job, const describe::Layout& layout,
                            const Shard& shard, const Stage& stage, const Routing& routing = {});
// All ranks of all stages. What grows with layers is worked out once for all of them.
TrafficTotals traffic_totals(const describe::Job& job, const describe::Layout& layout,
                             const Shard& shard, std::span<const Stage> stages,
                             const Routing& routing = {});

// Ranks that run one stage: tp · cp · dp, twice that under DualPipe.
std::int64_t ranks_of_stage(const describe::Layout& layout, const Shard& shard);

}  // namespace sextant::workload
