#include "workload/groups.h"

#include <algorithm>

namespace sextant::workload {

using describe::Axis;

namespace {

// Keeps `size` neighbours of a group's range, or every size-th from the rank's place on.
enum class GroupPart { kNeighbours, kAcross };

}  // namespace

std::int64_t RankGroup::rank(std::int64_t index) const {
  std::int64_t place = first_ + index * step_;
  std::int64_t rank = base_;
  for (int i = 0; i < used_; ++i) {
    const Axis& axis = axes_[static_cast<std::size_t>(i)];
    rank += place % axis.size * axis.stride;
    place /= axis.size;
  }
  return rank;
}

RankGrid::RankGrid(const describe::Layout& layout, const Shard& shard)
    : order_(layout.order), shards_(shard.zero_shards), expert_shards_(shard.expert_shards) {
  const auto dense_size = [&shard](Axis axis) {
    switch (axis) {
      case Axis::kTp:
        return shard.tp;
      case Axis::kCp:
        return shard.cp;
      case Axis::kDp:
        return shard.dp;
      case Axis::kPp:
        return shard.pp;
      case Axis::kEp:
        break;
    }
    return std::int64_t{1};
  };
  const auto expert_size = [&shard](Axis axis) {
    switch (axis) {
      case Axis::kTp:
        return shard.etp;
      case Axis::kEp:
        return shard.ep;
      case Axis::kDp:
        return shard.expert_dp;
      case Axis::kPp:
        return shard.pp;
      case Axis::kCp:
        break;
    }
    return std::int64_t{1};
  };
  std::int64_t expert_stride = 1;
  for (const Axis axis : order_) {
    const auto place = static_cast<std::size_t>(axis);
    dense_[place] = {dense_size(axis), world_};
    expert_[place] = {expert_size(axis), expert_stride};
    world_ *= dense_[place].size;
    expert_stride *= expert_[place].size;
  }
}

Coordinates RankGrid::coordinates(std::int64_t rank) const {
  const auto on = [&](const Division& division, Axis which) {
    return rank / axis(division, which).stride % axis(division, which).size;
  };
  return {.tp = on(dense_, Axis::kTp),
          .cp = on(dense_, Axis::kCp),
          .dp = on(dense_, Axis::kDp),
          .pp = on(dense_, Axis::kPp),
          .etp = on(expert_, Axis::kTp),
          .ep = on(expert_, Axis::kEp),
          .expert_dp = on(expert_, Axis::kDp)};
}

RankGroup RankGrid::spanned(const Division& division, std::initializer_list<Axis> axes,
                            std::int64_t rank) const {
  RankGroup group;
  group.base_ = rank;
  std::int64_t range = 1;
  for (const Axis which : order_) {
    if (std::find(axes.begin(), axes.end(), which) == axes.end()) {
      continue;
    }
    const RankGroup::Axis& at = axis(division, which);
    const std::int64_t place = rank / at.stride % at.size;
    group.base_ -= place * at.stride;
    group.position_ += place * range;
    group.axes_[static_cast<std::size_t>(group.used_++)] = at;
    range *= at.size;
  }
  group.count_ = range;
  return group;
}

RankGroup RankGrid::group(GroupKind kind, std::int64_t rank, std::int64_t size) const {
  // Of a group: `width` neighbours around the rank, or one of each such set.
  const auto part = [](RankGroup group, std::int64_t width, GroupPart which) {
    const std::int64_t inside = group.position_ % width;
    const std::int64_t set = group.position_ / width;
    if (which == GroupPart::kNeighbours) {
      group.first_ = set * width;
      group.count_ = width;
      group.position_ = inside;
    } else {
      group.first_ = inside;
      group.step_ = width;
      group.count_ /= width;
      group.position_ = set;
    }
    return group;
  };
  const std::int64_t cp = axis(dense_, Axis::kCp).size;
  switch (kind) {
    case GroupKind::kTp:
      return spanned(dense_, {Axis::kTp}, rank);
    case GroupKind::kCp:
      return spanned(dense_, {Axis::kCp}, rank);
    case GroupKind::kCpInner:
      return part(spanned(dense_, {Axis::kCp}, rank), size > 0 ? size : cp, GroupPart::kNeighbours);
    case GroupKind::kCpOuter:
      return part(spanned(dense_, {Axis::kCp}, rank), size > 0 ? cp / size : cp,
                  GroupPart::kAcross);
    case GroupKind::kEp:
      return spanned(expert_, {Axis::kEp}, rank);
    case GroupKind::kEtp:
      return spanned(expert_, {Axis::kTp}, rank);
    case GroupKind::kTpEp:
      return spanned(expert_, {Axis::kTp, Axis::kEp}, rank);
    case GroupKind::kDp:
      return spanned(dense_, {Axis::kCp, Axis::kDp}, rank);
    case GroupKind::kShard:
      return part(spanned(dense_, {Axis::kCp, Axis::kDp}, rank), shards_, GroupPart::kNeighbours);
    case GroupKind::kReplicate:
      return part(spanned(dense_, {Axis::kCp, Axis::kDp}, rank), shards_, GroupPart::kAcross);
    case GroupKind::kExpertDp:
      return spanned(expert_, {Axis::kDp}, rank);
    case GroupKind::kExpertShard:
      return part(spanned(expert_, {Axis::kDp}, rank), expert_shards_, GroupPart::kNeighbours);
    case GroupKind::kExpertReplicate:
      return part(spanned(expert_, {Axis::kDp}, rank), expert_shards_, GroupPart::kAcross);
    case GroupKind::kPipeline:
      return spanned(dense_, {Axis::kPp}, rank);
    case GroupKind::kEmbedding: {
      RankGroup ends = spanned(dense_, {Axis::kPp}, rank);
      ends.position_ = ends.position_ == 0 ? 0 : 1;
      ends.step_ = std::max<std::int64_t>(ends.count_ - 1, 1);
      ends.count_ = std::min<std::int64_t>(ends.count_, 2);
      return ends;
    }
    case GroupKind::kModel:
      return spanned(dense_, {Axis::kTp, Axis::kPp}, rank);
    case GroupKind::kWorld:
      break;
  }
  return spanned(dense_, {Axis::kTp, Axis::kCp, Axis::kDp, Axis::kPp}, rank);
}

std::int64_t RankGrid::on_pipeline_rank(std::int64_t rank, std::int64_t pipeline_rank) const {
  return spanned(dense_, {Axis::kPp}, rank).rank(pipeline_rank);
}

std::vector<std::int64_t> group_ranks(const describe::Job& job, GroupKind kind, std::int64_t rank) {
  const RankGroup group = RankGrid(job.layout, shard_of(job)).group(kind, rank);
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(group.size()));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i] = group.rank(static_cast<std::int64_t>(i));
  }
  return ranks;
}

}  // namespace sextant::workload
