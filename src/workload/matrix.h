// Who sends how much to whom in a step: the rank × rank matrix of a job, row by row.
//
// Algorithms are stated, not guessed: all-reduce, all-gather, reduce-scatter and broadcast go round
// a ring in group order, each rank sending to the next; all-to-all goes straight to every member;
// messages go to their receiver. Libraries choose trees and hierarchical rings too; those move as
// many bytes in all, between other pairs. docs/models/traffic.md says more.
//
// The matrix is never held: a row costs a few hundred bytes, so that 10^5 ranks stream to disk.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/units.h"
#include "describe/layout/job.h"
#include "workload/groups.h"
#include "workload/traffic.h"

namespace sextant::workload {

struct MatrixEntry {
  std::int64_t to = 0;
  GroupKind group = GroupKind::kTp;
  Bytes bytes;
};

// What a row and a column stand for.
enum class MatrixBy : std::uint8_t {
  kRank,
  kNode,
  kRail,  // ranks with the same place in their node
};
inline constexpr std::array<describe::Word<MatrixBy>, 3> kMatrixByWords{
    {{MatrixBy::kRank, "rank"}, {MatrixBy::kNode, "node"}, {MatrixBy::kRail, "rail"}}};

// How far bytes of one kind of group travel.
struct Reach {
  Bytes same_node;
  Bytes same_domain;  // another node of the same scale-up domain
  Bytes network;
  [[nodiscard]] Bytes total() const { return same_node + same_domain + network; }
};

class CommunicationMatrix {
 public:
  // Entries of a row are sorted by receiver, then group, without repeats.
  using Visitor = std::function<void(std::int64_t from, std::span<const MatrixEntry>)>;

  // REQUIRES: check_rules(job) finds nothing; a routing with shares has ep · ep of them.
  explicit CommunicationMatrix(const describe::Job& job, Routing routing = {});

  [[nodiscard]] std::int64_t ranks() const { return grid_.world(); }
  [[nodiscard]] std::int64_t size(MatrixBy by) const;

  // The row of one rank, written over `entries`.
  void row(std::int64_t rank, std::vector<MatrixEntry>& entries) const;
  // Every row in order. Stops nowhere: a visitor that has had enough ignores the rest.
  void for_each_row(MatrixBy by, const Visitor& visit) const;

  [[nodiscard]] std::array<Reach, kGroupKindWords.size()> reach() const;

 private:
  // One way of sending that a pipeline rank's members share.
  struct Flow {
    enum class Way : std::uint8_t { kRing, kDirect, kPipeline };
    Way way = Way::kRing;
    GroupKind group = GroupKind::kTp;
    std::int64_t size = 1;
    std::int64_t to_pipeline_rank = 0;  // kPipeline only
    bool returns = false;
    double bytes = 0.0;  // a rank sends in all; kDirect: its buffer, own part included
  };
  void add_flows(const describe::Job& job, const Stage& stage, const Shard& shard,
                 std::int64_t copy);
  void add_flow(std::int64_t pipeline_rank, const Flow& flow);
  void add_direct(const Flow& flow, std::int64_t rank, std::vector<MatrixEntry>& entries) const;
  void for_each_node(const Visitor& visit) const;
  void for_each_rail(const Visitor& visit) const;

  RankGrid grid_;
  Routing routing_;
  std::int64_t per_node_ = 1;
  std::int64_t per_domain_ = 1;
  std::vector<std::vector<Flow>> flows_;  // by pipeline rank
};

}  // namespace sextant::workload
