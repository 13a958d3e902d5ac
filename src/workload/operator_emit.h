// The operators of one layer, or of one end of the model, handed to an emitter one by one: the
// common part of lists, sums and times.
//
// An emitter has `void operator()(const Operator&, Part host)`; `host` is the part that
// recomputation decides by (operator_passes.h).
#pragma once

#include "workload/block_walk.h"
#include "workload/operator_parameters.h"
#include "workload/operator_passes.h"
#include "workload/recompute.h"
#include "workload/weights.h"

namespace sextant::workload {

// What a walk and its passes need of a job, gathered once.
struct OperatorSetting {
  OperatorSetting(const describe::Job& a_job, const describe::Layout& a_layout,
                  const Shard& a_shard)
      : job(a_job),
        shard(a_shard),
        walk(walk_options(a_job, a_layout)),
        passes(pass_options(a_job, a_layout, a_shard)),
        parameters(parameter_streams(a_job, a_layout, a_shard)),
        selective(recomputed_parts(a_layout.recompute, a_job.framework)) {}
  const describe::Job& job;
  const Shard& shard;
  WalkOptions walk;
  PassOptions passes;
  ParameterStreams parameters;
  PartMask selective;  // parts that run again in every layer
};

inline PartMask whole_parts(const OperatorSetting& setting, const describe::Block& block) {
  return setting.passes.backward ? parts_of_whole_layer(block, setting.job.framework) : 0;
}

inline PartMask selective_parts(const OperatorSetting& setting) {
  return setting.passes.backward ? setting.selective : 0;
}

// One layer of a block and what its parameters pass through.
template <class Emit>
void emit_block(const OperatorSetting& setting, const describe::Block& block, Emit& emit) {
  Passes<Emit> passes(setting.passes, emit);
  walk_block(setting.job.model, block, setting.shard, setting.walk, passes);
  emit_parameter_streams(setting.parameters, block_weights(setting.job.model, block, setting.shard),
                         emit);
}

template <class Emit>
void emit_embedding(const OperatorSetting& setting, Emit& emit) {
  Passes<Emit> passes(setting.passes, emit);
  walk_embedding(setting.job.model, setting.shard, setting.walk, passes);
  if (setting.parameters.any()) {
    emit_parameter_streams(setting.parameters, embedding_weights(setting.job.model, setting.shard),
                           emit);
  }
}

template <class Emit>
void emit_head(const OperatorSetting& setting, Emit& emit) {
  Passes<Emit> passes(setting.passes, emit);
  walk_head(setting.job.model, setting.shard, setting.walk, passes);
  if (setting.parameters.any()) {
    emit_parameter_streams(setting.parameters, head_weights(setting.job.model, setting.shard),
                           emit);
  }
}

// A multi-token-prediction layer before and after its block.
template <class Emit>
void emit_mtp_entry(const OperatorSetting& setting, Emit& emit) {
  const describe::Model& model = setting.job.model;
  Passes<Emit> passes(setting.passes, emit);
  walk_mtp_entry(model, setting.shard, setting.walk, passes);
  if (setting.parameters.any()) {
    emit_parameter_streams(setting.parameters, mtp_own_weights(model, setting.shard), emit);
  }
}

template <class Emit>
void emit_mtp_exit(const OperatorSetting& setting, Emit& emit) {
  Passes<Emit> passes(setting.passes, emit);
  walk_mtp_exit(setting.job.model, setting.shard, setting.walk, passes);
}

inline const describe::Block& mtp_block(const describe::Model& model) {
  return model.blocks[static_cast<std::size_t>(model.mtp_block)];
}

}  // namespace sextant::workload
