#include "workload/matrix.h"

#include <algorithm>

#include "workload/wire.h"

namespace sextant::workload {

using describe::CollectiveOp;
using describe::Job;

namespace {

bool goes_before(const MatrixEntry& a, const MatrixEntry& b) {
  return a.to != b.to ? a.to < b.to : a.group < b.group;
}

// Sorts, and adds up entries with the same receiver and group.
void merge(std::vector<MatrixEntry>& entries) {
  std::sort(entries.begin(), entries.end(), goes_before);
  std::size_t kept = 0;
  for (const MatrixEntry& entry : entries) {
    if (kept > 0 && entries[kept - 1].to == entry.to && entries[kept - 1].group == entry.group) {
      entries[kept - 1].bytes += entry.bytes;
    } else {
      entries[kept++] = entry;
    }
  }
  entries.resize(kept);
}

}  // namespace

CommunicationMatrix::CommunicationMatrix(const Job& job, Routing routing)
    : grid_(job.layout, shard_of(job)),
      routing_(std::move(routing)),
      per_node_(std::max<std::int64_t>(job.cluster.devices_per_node(), 1)),
      per_domain_(std::max(job.cluster.system.domain_size.value, per_node_)),
      flows_(static_cast<std::size_t>(job.layout.pp)) {
  const Shard shard = shard_of(job);
  const bool twice = job.layout.schedule == describe::Schedule::kDualPipe && job.layout.pp > 1;
  for (const Stage& stage : stages_of(job)) {
    add_flows(job, stage, shard, 0);
    if (twice) {
      add_flows(job, stage, shard, 1);
    }
  }
}

// `copy`: the second one of DualPipe runs the pipeline the other way round.
void CommunicationMatrix::add_flows(const Job& job, const Stage& stage, const Shard& shard,
                                    std::int64_t copy) {
  const auto runs_on = [&](std::int64_t index) {
    const std::int64_t rank = pipeline_rank_of(index, job.layout);
    return copy == 0 ? rank : job.layout.pp - 1 - rank;
  };
  const std::int64_t here = runs_on(stage.index);
  for (const Collective& message : step_collectives(job, stage, shard, routing_)) {
    Flow flow{.group = message.group, .size = message.group_size, .returns = message.returns};
    if (message.op == CollectiveOp::kAllToAll) {
      flow.way = Flow::Way::kDirect;
      // Unequal shares are laid over the mean buffer, which is the smaller side.
      flow.bytes = static_cast<double>(std::min(message.input_bytes, message.output_bytes)) *
                   static_cast<double>(message.count);
    } else {
      flow.bytes = message.wire_bytes() / 1_B;
      if (message.group == GroupKind::kPipeline) {
        flow.way = Flow::Way::kPipeline;
        flow.to_pipeline_rank = runs_on(stage.index + (message.phase == Phase::kForward ? 1 : -1));
      }
    }
    add_flow(here, flow);
  }
}

void CommunicationMatrix::add_flow(std::int64_t pipeline_rank, const Flow& flow) {
  std::vector<Flow>& flows = flows_[static_cast<std::size_t>(pipeline_rank)];
  const auto same = std::find_if(flows.begin(), flows.end(), [&flow](const Flow& other) {
    return other.way == flow.way && other.group == flow.group && other.size == flow.size &&
           other.to_pipeline_rank == flow.to_pipeline_rank && other.returns == flow.returns;
  });
  if (same == flows.end()) {
    flows.push_back(flow);
  } else {
    same->bytes += flow.bytes;
  }
}

std::int64_t CommunicationMatrix::size(MatrixBy by) const {
  switch (by) {
    case MatrixBy::kNode:
      return (ranks() + per_node_ - 1) / per_node_;
    case MatrixBy::kRail:
      return std::min(per_node_, ranks());
    case MatrixBy::kRank:
      break;
  }
  return ranks();
}

void CommunicationMatrix::add_direct(const Flow& flow, std::int64_t rank,
                                     std::vector<MatrixEntry>& entries) const {
  const RankGroup group = grid_.group(flow.group, rank, flow.size);
  const std::int64_t members = group.size();
  const std::int64_t self = group.position();
  const bool measured = flow.group == GroupKind::kEp && !routing_.shares.empty();
  for (std::int64_t other = 0; other < members; ++other) {
    if (other == self) {
      continue;
    }
    const std::int64_t source = flow.returns ? other : self;
    const std::int64_t target = flow.returns ? self : other;
    const double share = measured
                             ? routing_.shares[static_cast<std::size_t>(source * members + target)]
                             : 1.0 / static_cast<double>(members);
    entries.push_back({group.rank(other), flow.group, Bytes(flow.bytes * share)});
  }
}

void CommunicationMatrix::row(std::int64_t rank, std::vector<MatrixEntry>& entries) const {
  entries.clear();
  const auto stage = static_cast<std::size_t>(grid_.coordinates(rank).pp);
  for (const Flow& flow : flows_[stage]) {
    switch (flow.way) {
      case Flow::Way::kDirect:
        add_direct(flow, rank, entries);
        break;
      case Flow::Way::kPipeline:
        entries.push_back(
            {grid_.on_pipeline_rank(rank, flow.to_pipeline_rank), flow.group, Bytes(flow.bytes)});
        break;
      case Flow::Way::kRing:
        entries.push_back(
            {grid_.group(flow.group, rank, flow.size).next(), flow.group, Bytes(flow.bytes)});
        break;
    }
  }
  merge(entries);
}

void CommunicationMatrix::for_each_row(MatrixBy by, const Visitor& visit) const {
  switch (by) {
    case MatrixBy::kNode:
      for_each_node(visit);
      return;
    case MatrixBy::kRail:
      for_each_rail(visit);
      return;
    case MatrixBy::kRank:
      break;
  }
  std::vector<MatrixEntry> entries;
  for (std::int64_t rank = 0; rank < ranks(); ++rank) {
    row(rank, entries);
    visit(rank, entries);
  }
}

void CommunicationMatrix::for_each_node(const Visitor& visit) const {
  std::vector<MatrixEntry> entries;
  std::vector<MatrixEntry> sums;
  for (std::int64_t node = 0; node < size(MatrixBy::kNode); ++node) {
    sums.clear();
    const std::int64_t end = std::min((node + 1) * per_node_, ranks());
    for (std::int64_t rank = node * per_node_; rank < end; ++rank) {
      row(rank, entries);
      for (const MatrixEntry& entry : entries) {
        sums.push_back({entry.to / per_node_, entry.group, entry.bytes});
      }
    }
    merge(sums);
    visit(node, sums);
  }
}

void CommunicationMatrix::for_each_rail(const Visitor& visit) const {
  const std::int64_t rails = size(MatrixBy::kRail);
  std::vector<std::vector<MatrixEntry>> sums(static_cast<std::size_t>(rails));
  std::vector<MatrixEntry> entries;
  for (std::int64_t rank = 0; rank < ranks(); ++rank) {
    row(rank, entries);
    std::vector<MatrixEntry>& sum = sums[static_cast<std::size_t>(rank % per_node_)];
    for (const MatrixEntry& entry : entries) {
      sum.push_back({entry.to % per_node_, entry.group, entry.bytes});
    }
    merge(sum);
  }
  for (std::int64_t rail = 0; rail < rails; ++rail) {
    visit(rail, sums[static_cast<std::size_t>(rail)]);
  }
}

std::array<Reach, kGroupKindWords.size()> CommunicationMatrix::reach() const {
  std::array<Reach, kGroupKindWords.size()> reach;
  for_each_row(MatrixBy::kRank, [&](std::int64_t from, std::span<const MatrixEntry> entries) {
    for (const MatrixEntry& entry : entries) {
      Reach& of = reach[static_cast<std::size_t>(entry.group)];
      if (from / per_node_ == entry.to / per_node_) {
        of.same_node += entry.bytes;
      } else if (from / per_domain_ == entry.to / per_domain_) {
        of.same_domain += entry.bytes;
      } else {
        of.network += entry.bytes;
      }
    }
  });
  return reach;
}

}  // namespace sextant::workload
