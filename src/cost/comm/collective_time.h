// How long a collective takes: the least over the algorithms and protocols that a library has.
//
//   time = latency + transfer + fill · √(latency · transfer)        transfer = bytes on the bus /
//   rate
//
// Latency is a start and a hop a step, transfer the busiest link's bytes at its rate. The third
// term is what a pipeline loses while it fills: cut into the best number of chunks, k stages of
// latency a and a transfer b take (√(k·a) + √b)², so fill = 2; a library with fixed chunks lies
// between 0 and 2.
//
//   ring         2(n-1) steps (all-reduce) or n-1, the whole volume past every device
//   tree         2·log2 steps; between domains it sends 2(N-1)/N... of what a ring does (N = 2:
//   half) switch       the switch reduces (NVLS): no steps, the buffer once each way collnet the
//   network's switches reduce (SHARP) exchange     all-to-all and messages: every pair directly
// each with the low-latency protocol (small start, part of the rate) and in bulk.
//
// Between domains the NICs of a domain's ranks work together; a domain is what scale-up links join
// (an NVL72 rack, not a host). Constants: data/comm; docs/models/comm.md says how they were found.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.h"
#include "cost/comm/comm_model.h"
#include "describe/collective.h"
#include "describe/words.h"

namespace sextant::cost {

enum class CommAlgorithm : std::uint8_t { kNone, kRing, kTree, kSwitch, kCollnet, kExchange };
inline constexpr std::array<describe::Word<CommAlgorithm>, 6> kCommAlgorithmWords{
    {{CommAlgorithm::kNone, "none"},
     {CommAlgorithm::kRing, "ring"},
     {CommAlgorithm::kTree, "tree"},
     {CommAlgorithm::kSwitch, "nvls"},
     {CommAlgorithm::kCollnet, "collnet"},
     {CommAlgorithm::kExchange, "exchange"}}};
enum class CommProtocol : std::uint8_t { kLowLatency, kBulk };
inline constexpr std::array<describe::Word<CommProtocol>, 2> kCommProtocolWords{
    {{CommProtocol::kLowLatency, "ll"}, {CommProtocol::kBulk, "simple"}}};
enum class CommLink : std::uint8_t { kScaleUp, kNetwork };
inline constexpr std::array<describe::Word<CommLink>, 2> kCommLinkWords{
    {{CommLink::kScaleUp, "scale-up"}, {CommLink::kNetwork, "network"}}};

// One way to run a collective: its terms as functions of the bytes.
struct CommLine {
  CommAlgorithm algorithm = CommAlgorithm::kNone;
  CommProtocol protocol = CommProtocol::kBulk;
  CommLink limit = CommLink::kScaleUp;  // whose rate it runs at
  double latency = 0.0;                 // seconds
  double per_byte = 0.0;                // seconds a byte of payload
  double fill = 0.0;
};

// A collective of a given size by one way.
struct CommTerms {
  CommAlgorithm algorithm = CommAlgorithm::kNone;
  CommProtocol protocol = CommProtocol::kBulk;
  CommLink limit = CommLink::kScaleUp;
  Seconds latency;
  Seconds transfer;
  Seconds fill;
  [[nodiscard]] Seconds total() const { return latency + transfer + fill; }
};

// What one way takes for so many bytes.
CommTerms terms_of(const CommLine& line, Bytes bytes);

// Every way of one operation on one group; made once, asked for many sizes.
class CommLines {
 public:
  // The quickest way. Bytes: the buffer of an all-reduce or broadcast, the whole tensor of an
  // all-gather or reduce-scatter, one rank's send buffer of an all-to-all, the message.
  [[nodiscard]] Seconds time(Bytes bytes) const;
  [[nodiscard]] CommTerms best(Bytes bytes) const;

  [[nodiscard]] int count() const { return count_; }
  // REQUIRES: 0 ≤ index < count().
  [[nodiscard]] const CommLine& line(int index) const {
    return lines_[static_cast<std::size_t>(index)];
  }
  void add(const CommLine& line);
  // Leaves only one algorithm's, where there is one of it: what a forced choice does.
  void keep(CommAlgorithm algorithm);
  void drop(CommAlgorithm algorithm);

 private:
  std::array<CommLine, 7> lines_{};
  int count_ = 0;
};

// REQUIRES: the model has the links and the network that the group needs; ranks ≥ 1,
// 1 ≤ domains ≤ ranks, per_domain · domains ≥ ranks.
CommLines comm_lines(describe::CollectiveOp op, const GroupShape& group, const CommModel& model);

// One rank: nothing. The same as comm_lines(…).time(bytes).
Seconds collective_time(describe::CollectiveOp op, Bytes bytes, const GroupShape& group,
                        const CommModel& model);

// What nccl-tests prints as busbw.
BytesPerSecond bus_bandwidth(describe::CollectiveOp op, Bytes bytes, std::int64_t ranks,
                             Seconds time);

// An all-reduce in three parts, as frameworks with a two-level mesh issue it: reduce-scatter inside
// each domain, all-reduce of a shard between them (all shards at once, a NIC each), all-gather
// inside.
struct HierarchicalTerms {
  Seconds scatter;
  Seconds across;
  Seconds gather;
  [[nodiscard]] Seconds total() const { return scatter + across + gather; }
};
HierarchicalTerms hierarchical_all_reduce(Bytes bytes, const GroupShape& group,
                                          const CommModel& model);

}  // namespace sextant::cost
