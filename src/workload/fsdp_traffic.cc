#include "workload/fsdp_traffic.h"

namespace sextant::workload {
namespace {

// Adds up the padded shards of parameters, as FSDP2 lays them out.
class PaddedShards {
 public:
  explicit PaddedShards(const Scene& at) : at_(at) {}

  void operator()(const ParameterShape& shape) {
    if (shape.experts > 0) {
      add_experts(shape);
      return;
    }
    const std::int64_t rows = divided_up(shape.local_rows(at_.shard.tp), at_.shard.zero_shards);
    shards_.dense += shape.count * rows * shape.local_columns(at_.shard.tp);
  }

  [[nodiscard]] UnitShards shards() const { return shards_; }

 private:
  // Experts are one tensor, expert by expert in dimension 0. Spread over ep they are a unit of
  // their own, sharded in dimension 1 where there are more ranks than experts.
  // Source: torchtitan b5bcd76, models/llama4/infra/parallelize.py (apply_fsdp).
  void add_experts(const ParameterShape& shape) {
    const std::int64_t rows = shape.local_rows(at_.shard.etp);
    const std::int64_t columns = shape.local_columns(at_.shard.etp);
    if (at_.shard.ep == 1) {
      const std::int64_t kept = divided_up(shape.experts, at_.shard.zero_shards);
      shards_.dense += shape.count * kept * rows * columns;
      return;
    }
    const std::int64_t experts = divided_up(shape.experts, at_.shard.ep);
    const std::int64_t shards = at_.shard.expert_shards;
    const std::int64_t kept = shards > experts ? experts * divided_up(rows, shards) * columns
                                               : divided_up(experts, shards) * rows * columns;
    shards_.experts += shape.count * kept;
  }

  const Scene& at_;
  UnitShards shards_;
};

UnitShards flat_shards(const Scene& at, const Weights& weights) {
  return {.dense = divided_up(weights.dense, at.shard.zero_shards),
          .experts = divided_up(weights.experts, at.shard.expert_shards)};
}

}  // namespace

UnitShards block_shards(const Scene& at, const describe::Block& block) {
  if (at.data != DataDialect::kFsdp2) {
    return flat_shards(at, block_weights(at.model, block, at.shard));
  }
  PaddedShards sum(at);
  for_each_parameter(at.model, block, [&sum](const ParameterShape& shape) { sum(shape); });
  return sum.shards();
}

UnitShards mtp_shards(const Scene& at) {
  if (at.data != DataDialect::kFsdp2) {
    return flat_shards(at, mtp_weights(at.model, at.shard));
  }
  PaddedShards sum(at);
  const auto add = [&sum](const ParameterShape& shape) { sum(shape); };
  for_each_mtp_parameter(at.model, add);
  for_each_parameter(at.model, at.model.blocks[static_cast<std::size_t>(at.model.mtp_block)], add);
  return sum.shards();
}

std::int64_t root_shard(const Scene& at, const StageView& stage) {
  const bool own_head = !at.model.tied_head || !stage.embedding;
  if (at.data != DataDialect::kFsdp2) {
    Weights weights;
    weights += stage.embedding ? embedding_weights(at.model, at.shard) : Weights{};
    weights += stage.head ? head_weights(at.model, at.shard) : Weights{};
    return flat_shards(at, weights).dense;
  }
  PaddedShards sum(at);
  const auto add = [&sum](const ParameterShape& shape) { sum(shape); };
  if (stage.embedding) {
    for_each_embedding_parameter(at.model, at.shard.vocab, add);
  }
  if (stage.head) {
    for_each_head_parameter(at.model, at.shard.vocab, own_head, add);
  }
  return sum.shards().dense;
}

std::int64_t adapter_shard(const Scene& at, const describe::Block& block) {
  if (at.weight_gradients || !at.job.lora) {
    return 0;
  }
  return divided_up(lora_weights(at.model, block, *at.job.lora, at.shard), at.shard.zero_shards);
}

FsdpTimes fsdp_times(const Scene& at) {
  const bool freed =
      at.layout.zero == describe::Zero::kParameters && at.layout.reshard_after_forward;
  const bool piped = at.shard.pp > 1 && at.data == DataDialect::kFsdp2;
  const bool last_only = piped || at.job.framework == describe::Framework::kAccelerate;
  return {.forward = piped && !freed ? 1 : at.microbatches,
          .backward = freed ? at.microbatches : 0,
          .reduce = last_only ? 1 : at.microbatches};
}

}  // namespace sextant::workload
