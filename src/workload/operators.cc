#include "workload/operators.h"

#include "workload/operator_emit.h"

namespace sextant::workload {
namespace {

using describe::Block;
using describe::Job;
using describe::Layout;
using describe::Model;

// Appends to a list: `layers` operators alike, some of them recomputed.
class ListEmit {
 public:
  struct Repeats {
    std::int64_t layers = 1;
    RecomputedLayers again;
    PartMask whole = 0;
    PartMask selective = 0;
  };
  ListEmit(std::vector<Operator>& list, const Repeats& repeats) : list_(list), repeats_(repeats) {}

  void operator()(Operator op, Part host) {
    if (op.flops.base() + op.read.base() + op.written.base() <= 0.0) {
      return;
    }
    op.count = repeats_.layers;
    list_.push_back(op);
    const std::int64_t again = (holds(repeats_.whole, host) ? repeats_.again.full : 0) +
                               (holds(repeats_.selective, host) ? repeats_.again.selective : 0);
    if (op.pass == Pass::kForward && again > 0) {
      op.pass = Pass::kRecompute;
      op.count = again;
      op.model_flops = Flops();
      list_.push_back(op);
    }
  }

 private:
  std::vector<Operator>& list_;
  Repeats repeats_;
};

// Adds up one layer. What a whole layer does not run again is little, so that is what is summed.
class SumEmit {
 public:
  SumEmit(PartMask whole, PartMask selective) : whole_(whole), selective_(selective) {}

  [[gnu::always_inline]] void operator()(const Operator& op, Part host) {
    const Work work{op.flops, op.read + op.written};
    passes_.at(op.pass) += work;
    passes_.model += op.model_flops;
    if (op.pass == Pass::kForward) {
      if (!holds(whole_, host)) {
        kept_ += work;
      }
      if (holds(selective_, host)) {
        selected_ += work;
      }
    }
  }

  [[nodiscard]] LayerWork sum() const {
    const Work whole{passes_.forward.flops - kept_.flops, passes_.forward.bytes - kept_.bytes};
    return {.passes = passes_, .whole = whole, .selective = selected_};
  }

 private:
  PartMask whole_;
  PartMask selective_;
  WorkTotals passes_;
  Work kept_;
  Work selected_;
};

// Flattened, so that the sums stay in registers.
[[gnu::flatten]] LayerWork block_work(const OperatorSetting& setting, const Block& block) {
  SumEmit emit(whole_parts(setting, block), selective_parts(setting));
  emit_block(setting, block, emit);
  return emit.sum();
}

[[gnu::flatten]] LayerWork embedding_work(const OperatorSetting& setting) {
  SumEmit emit(0, 0);
  emit_embedding(setting, emit);
  return emit.sum();
}

[[gnu::flatten]] LayerWork head_work(const OperatorSetting& setting) {
  SumEmit emit(0, 0);
  emit_head(setting, emit);
  return emit.sum();
}

// Around the block.
[[gnu::flatten]] LayerWork mtp_work(const OperatorSetting& setting) {
  SumEmit emit(whole_parts(setting, mtp_block(setting.job.model)), selective_parts(setting));
  emit_mtp_entry(setting, emit);
  emit_mtp_exit(setting, emit);
  return emit.sum();
}

[[gnu::always_inline]] inline void add_layers(WorkTotals& totals, const LayerWork& layer,
                                              std::int64_t layers, const RecomputedLayers& again) {
  const auto times = static_cast<double>(layers);
  totals.forward += layer.passes.forward * times;
  totals.input_gradient += layer.passes.input_gradient * times;
  totals.weight_gradient += layer.passes.weight_gradient * times;
  totals.model += layer.passes.model * times;
  totals.recompute += layer.whole * static_cast<double>(again.full);
  totals.recompute += layer.selective * static_cast<double>(again.selective);
}

}  // namespace

std::vector<Operator> stage_operators(const Job& job, const Layout& layout, const Stage& stage,
                                      const Shard& shard) {
  const OperatorSetting setting(job, layout, shard);
  constexpr std::size_t kTypical = 256;
  std::vector<Operator> list;
  list.reserve(kTypical);
  if (stage.embedding) {
    ListEmit emit(list, {});
    emit_embedding(setting, emit);
  }
  for (std::size_t index = 0; index < stage.blocks.size(); ++index) {
    const std::int64_t layers = stage.blocks[index];
    if (layers == 0) {
      continue;
    }
    const Block& block = job.model.blocks[index];
    ListEmit emit(list, {.layers = layers,
                         .again = recomputed_layers(layout.recompute, job.model, stage,
                                                    static_cast<std::int64_t>(index)),
                         .whole = whole_parts(setting, block),
                         .selective = selective_parts(setting)});
    emit_block(setting, block, emit);
  }
  if (stage.head) {
    ListEmit emit(list, {});
    emit_head(setting, emit);
  }
  if (stage.mtp_layers > 0) {
    ListEmit emit(list, {.layers = stage.mtp_layers,
                         .again = recomputed_mtp_layers(layout.recompute, stage.mtp_layers),
                         .whole = whole_parts(setting, mtp_block(job.model)),
                         .selective = selective_parts(setting)});
    emit_mtp_entry(setting, emit);
    emit_block(setting, mtp_block(job.model), emit);
    emit_mtp_exit(setting, emit);
  }
  return list;
}

WorkTotals totals_of(std::span<const Operator> operators) {
  WorkTotals totals;
  for (const Operator& op : operators) {
    const auto times = static_cast<double>(op.count);
    totals.at(op.pass) += Work{op.flops, op.read + op.written} * times;
    totals.model += op.model_flops * times;
  }
  return totals;
}

WorkTotals stage_totals(const Job& job, const Layout& layout, const Stage& stage,
                        const Shard& shard) {
  const OperatorSetting setting(job, layout, shard);
  WorkTotals totals;
  if (stage.embedding) {
    add_layers(totals, embedding_work(setting), 1, {});
  }
  for (std::size_t index = 0; index < stage.blocks.size(); ++index) {
    if (stage.blocks[index] > 0) {
      add_layers(
          totals, block_work(setting, job.model.blocks[index]), stage.blocks[index],
          recomputed_layers(layout.recompute, job.model, stage, static_cast<std::int64_t>(index)));
    }
  }
  if (stage.head) {
    add_layers(totals, head_work(setting), 1, {});
  }
  if (stage.mtp_layers > 0) {
    const RecomputedLayers again = recomputed_mtp_layers(layout.recompute, stage.mtp_layers);
    add_layers(totals, mtp_work(setting), stage.mtp_layers, again);
    add_layers(totals, block_work(setting, mtp_block(job.model)), stage.mtp_layers, again);
  }
  return totals;
}

void LayoutWork::assign(const Job& job, const Layout& layout, const Shard& shard) {
  const OperatorSetting setting(job, layout, shard);
  blocks.resize(job.model.blocks.size());
  for (std::size_t index = 0; index < blocks.size(); ++index) {
    blocks[index] = block_work(setting, job.model.blocks[index]);
  }
  embedding = embedding_work(setting);
  head = head_work(setting);
  mtp = job.model.mtp_layers > 0 ? mtp_work(setting) : LayerWork();
}

WorkTotals LayoutWork::stage(const Job& job, const Layout& layout, const Stage& stage) const {
  WorkTotals totals;
  if (stage.embedding) {
    add_layers(totals, embedding, 1, {});
  }
  for (std::size_t index = 0; index < stage.blocks.size(); ++index) {
    if (stage.blocks[index] > 0) {
      add_layers(
          totals, blocks[index], stage.blocks[index],
          recomputed_layers(layout.recompute, job.model, stage, static_cast<std::int64_t>(index)));
    }
  }
  if (stage.head) {
    add_layers(totals, head, 1, {});
  }
  if (stage.mtp_layers > 0) {
    const RecomputedLayers again = recomputed_mtp_layers(layout.recompute, stage.mtp_layers);
    add_layers(totals, mtp, stage.mtp_layers, again);
    add_layers(totals, blocks[static_cast<std::size_t>(job.model.mtp_block)], stage.mtp_layers,
               again);
  }
  return totals;
}

}  // namespace sextant::workload
