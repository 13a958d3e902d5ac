// Which ranks form a group.
//
// Ranks count through the axes of Layout::order, the first fastest. Dense layers use tp, cp, dp and
// pp; expert layers divide the same ranks anew: etp stands in tp's place, cp vanishes into the
// experts' data parallelism, and ep takes its own. Source: Megatron-LM d98e8a64,
// megatron/core/parallel_state.py (RankGenerator).
//
// Groups are described, not listed: a group of 100,000 ranks costs as much as one of two.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "describe/layout/job.h"
#include "workload/collective.h"
#include "workload/shard.h"

namespace sextant::workload {

// Where a rank stands on every axis, in both divisions.
struct Coordinates {
  std::int64_t tp = 0;
  std::int64_t cp = 0;
  std::int64_t dp = 0;
  std::int64_t pp = 0;
  std::int64_t etp = 0;
  std::int64_t ep = 0;
  std::int64_t expert_dp = 0;
  bool operator==(const Coordinates&) const = default;
};

// The members of one group, in the order that rings follow.
class RankGroup {
 public:
  [[nodiscard]] std::int64_t size() const { return count_; }
  // REQUIRES: 0 ≤ index < size().
  [[nodiscard]] std::int64_t rank(std::int64_t index) const;
  // Where the rank stands that the group was asked for.
  [[nodiscard]] std::int64_t position() const { return position_; }
  // The member after that rank, the first after the last.
  [[nodiscard]] std::int64_t next() const { return rank((position_ + 1) % count_); }

 private:
  friend class RankGrid;
  struct Axis {
    std::int64_t size = 1;
    std::int64_t stride = 0;
  };
  std::int64_t base_ = 0;
  std::array<Axis, 5> axes_{};  // fastest first
  int used_ = 0;
  // Of the whole range of the axes: every step_-th from first_ on, count_ in all.
  std::int64_t first_ = 0;
  std::int64_t step_ = 1;
  std::int64_t count_ = 1;
  std::int64_t position_ = 0;
};

class RankGrid {
 public:
  RankGrid(const describe::Layout& layout, const Shard& shard);

  [[nodiscard]] std::int64_t world() const { return world_; }
  [[nodiscard]] Coordinates coordinates(std::int64_t rank) const;
  // The group of that kind which `rank` belongs to (for kEmbedding: would belong to). `size` says
  // how large kCpInner and kCpOuter are; 0: the whole of cp, and one.
  // REQUIRES: 0 ≤ rank < world().
  [[nodiscard]] RankGroup group(GroupKind kind, std::int64_t rank, std::int64_t size = 0) const;
  // The rank with the same place in its stage on another pipeline rank.
  [[nodiscard]] std::int64_t on_pipeline_rank(std::int64_t rank, std::int64_t pipeline_rank) const;

 private:
  // Size and stride of each describe::Axis in one division of the ranks.
  using Division = std::array<RankGroup::Axis, 5>;
  [[nodiscard]] RankGroup spanned(const Division& division,
                                  std::initializer_list<describe::Axis> axes,
                                  std::int64_t rank) const;
  [[nodiscard]] const RankGroup::Axis& axis(const Division& division, describe::Axis which) const {
    return division[static_cast<std::size_t>(which)];
  }

  std::array<describe::Axis, 5> order_;
  Division dense_{};
  Division expert_{};
  std::int64_t world_ = 1;
  std::int64_t shards_ = 1;
  std::int64_t expert_shards_ = 1;
};

// The members of a rank's group as a list. REQUIRES: the job is legal, 0 ≤ rank < its ranks.
std::vector<std::int64_t> group_ranks(const describe::Job& job, GroupKind kind, std::int64_t rank);

}  // namespace sextant::workload
