#include "cost/memory/detail.h"

#include <algorithm>

#include "cost/memory/in_flight.h"

namespace sextant::cost {
namespace {

using workload::Part;
using workload::PartMask;

struct Listed {
  PartMask recomputed = 0;
  std::vector<SavedTensor> tensors;
  void operator()(Part part, std::string_view name, double size, PartMask dropped) {
    if (size > 0.0) {
      tensors.push_back({part, name, Bytes(size), (dropped & recomputed) != 0});
    }
  }
};

BlockDetail block_detail(const describe::Job& job, const workload::Stage& stage,
                         const MemoryDetail& rank, std::size_t block) {
  const workload::RecomputedLayers again = workload::recomputed_layers(
      job.layout.recompute, job.model, stage, static_cast<std::int64_t>(block));
  Listed listed{workload::recomputed_parts(job.layout.recompute, job.framework), {}};
  workload::walk_saved(job.model, job.model.blocks[block], rank.shard, rank.rules, listed);
  std::stable_sort(listed.tensors.begin(), listed.tensors.end(),
                   [](const SavedTensor& a, const SavedTensor& b) { return a.bytes > b.bytes; });
  return {.block = block,
          .layers = stage.blocks[block],
          .whole = again.full,
          .in_part = again.selective,
          .weights = workload::block_weights(job.model, job.model.blocks[block], rank.shard),
          .tensors = std::move(listed.tensors)};
}

bool runs_stage(const describe::Layout& layout, std::int64_t rank, std::int64_t stage) {
  return workload::pipeline_rank_of(stage, layout) == rank ||
         (layout.schedule == describe::Schedule::kDualPipe && stage == layout.pp - 1 - rank);
}

}  // namespace

MemoryDetail memory_detail(const describe::Job& job, std::int64_t rank) {
  MemoryDetail detail;
  detail.shard = workload::shard_of(job);
  detail.rules = workload::saved_rules(job, job.layout);
  detail.checkpoint = Bytes(workload::checkpoint_bytes(job.model, detail.shard, detail.rules));
  detail.embedding = workload::embedding_weights(job.model, detail.shard);
  detail.head = workload::head_weights(job.model, detail.shard);
  for (workload::Stage& stage : workload::stages_of(job)) {
    if (!runs_stage(job.layout, rank, stage.index)) {
      continue;
    }
    StageDetail out;
    out.in_flight = in_flight(job.layout, detail.shard.microbatches, stage.index);
    for (std::size_t block = 0; block < stage.blocks.size(); ++block) {
      if (stage.blocks[block] > 0) {
        out.blocks.push_back(block_detail(job, stage, detail, block));
        const workload::Weights& layer = out.blocks.back().weights;
        detail.largest_layer.dense = std::max(detail.largest_layer.dense, layer.dense);
        detail.largest_layer.experts = std::max(detail.largest_layer.experts, layer.experts);
      }
    }
    out.stage = std::move(stage);
    detail.stages.push_back(std::move(out));
  }
  return detail;
}

}  // namespace sextant::cost
