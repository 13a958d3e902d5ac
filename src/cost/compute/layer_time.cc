#include "cost/compute/layer_time.h"

#include <algorithm>
#include <optional>

#include "cost/compute/operator_time.h"

namespace sextant::cost {
namespace {

using describe::Job;
using describe::Layout;
using workload::Operator;
using workload::OperatorSetting;
using workload::Part;
using workload::PartMask;
using workload::Pass;
using workload::RecomputedLayers;
using workload::Stage;

// Times each operator of a layer and adds it to its passes.
class TimeEmit {
 public:
  TimeEmit(const DeviceModel& device, PartMask whole, PartMask selective, bool notes)
      : device_(device), whole_(whole), selective_(selective), notes_(notes) {}

  void operator()(const Operator& op, Part host) {
    if (op.flops.base() + op.read.base() + op.written.base() <= 0.0) {
      return;
    }
    const Timed timed = time_of(op);
    switch (op.pass) {
      case Pass::kInputGradient:
        add(LayerPass::kInputGradient, timed);
        note(LayerPass::kInputGradient, op, timed);
        return;
      case Pass::kWeightGradient:
        add(LayerPass::kWeightGradient, timed);
        note(LayerPass::kWeightGradient, op, timed);
        return;
      case Pass::kForward:
      case Pass::kRecompute:
      case Pass::kUpdate:
        break;
    }
    add(LayerPass::kForward, timed);
    note(LayerPass::kForward, op, timed, host);
    if (op.part == Part::kHead || op.part == Part::kLoss) {
      add(LayerPass::kEnds, timed);
    }
    if (workload::holds(whole_, host)) {
      add(LayerPass::kWhole, timed);
    }
    if (workload::holds(selective_, host)) {
      add(LayerPass::kSelective, timed);
    }
  }

  LayerTime take() { return std::move(sum_); }

 private:
  struct Timed {
    PassTime time;
    Seconds added;  // by the limit at full duty, were there no memory to wait for
    Seconds spare;  // what it waits for memory
    double limit = 0.0;
    OperatorCost cost;
    bool attention = false;
  };

  [[nodiscard]] Timed time_of(const Operator& op) const {
    const OperatorCost cost = operator_time(op, device_);
    const Seconds busy = cost.compute + cost.output;
    Timed timed;
    timed.cost = cost;
    timed.time.device = cost.total();
    timed.time.kernels = op.kernels;
    timed.attention = op.kind == workload::OpKind::kAttention;
    if (is_product(op)) {
      timed.time.calls = op.pass == Pass::kWeightGradient ? 0.0 : 1.0;
      timed.time.products = busy;
    }
    if (const double limit = limit_share(op, device_); limit > 0.0) {
      timed.limit = limit;
      timed.added = busy * limit;
      timed.spare = cost.memory - busy;
      timed.time.limit = timed.spare <= Seconds() ? timed.added : Seconds();
    }
    if (timed.attention) {
      timed.time.attention = timed.time.device;
      timed.time.attention_limit = timed.time.limit;
    }
    return timed;
  }

  void add(LayerPass pass, const Timed& timed) {
    sum_.passes[static_cast<std::size_t>(pass)].add(timed.time, 1.0);
    if (timed.spare > Seconds() && timed.added > timed.spare) {
      sum_.partly.push_back({pass, timed.attention, timed.added, timed.spare});
    }
  }

  // `host`: the part that runs again with it; nothing for gradients, which do not.
  void note(LayerPass pass, const Operator& op, const Timed& timed,
            std::optional<Part> host = std::nullopt) {
    if (notes_) {
      sum_.noted.push_back({.pass = pass,
                            .whole = host && workload::holds(whole_, *host),
                            .selective = host && workload::holds(selective_, *host),
                            .op = op,
                            .cost = timed.cost,
                            .limit = timed.limit});
    }
  }

  const DeviceModel& device_;
  PartMask whole_;
  PartMask selective_;
  bool notes_;
  LayerTime sum_;
};

// How often a stage runs a layer and its parts again.
struct Repeats {
  double layers = 0.0;
  double full = 0.0;
  double selective = 0.0;
  [[nodiscard]] double of(LayerPass pass) const {
    return pass == LayerPass::kWhole ? full : pass == LayerPass::kSelective ? selective : layers;
  }
};

Repeats repeats(std::int64_t layers, const RecomputedLayers& again) {
  return {static_cast<double>(layers), static_cast<double>(again.full),
          static_cast<double>(again.selective)};
}

template <class Visit>
void for_each_layer(const LayerTimes& times, const Job& job, const Layout& layout,
                    const Stage& stage, Visit&& visit) {
  if (stage.embedding) {
    visit(times.embedding, repeats(1, {}));
  }
  for (std::size_t i = 0; i < stage.blocks.size(); ++i) {
    if (stage.blocks[i] > 0) {
      visit(times.blocks[i],
            repeats(stage.blocks[i], workload::recomputed_layers(layout.recompute, job.model, stage,
                                                                 static_cast<std::int64_t>(i))));
    }
  }
  if (stage.head) {
    visit(times.head, repeats(1, {}));
  }
  if (stage.mtp_layers > 0) {
    const Repeats each = repeats(
        stage.mtp_layers, workload::recomputed_mtp_layers(layout.recompute, stage.mtp_layers));
    visit(times.mtp, each);
    visit(times.blocks[static_cast<std::size_t>(job.model.mtp_block)], each);
  }
}

using PassSums = std::array<PassTime, kLayerPasses>;

// By the products' share of all the time; head and loss are in the forward already.
double duty_of(const PassSums& sums, const DutyModel& duty) {
  Seconds all;
  Seconds products;
  for (std::size_t i = 0; i < kLayerPasses; ++i) {
    if (static_cast<LayerPass>(i) != LayerPass::kEnds) {
      all += sums[i].device;
      products += sums[i].products;
    }
  }
  return duty.share(all > Seconds() ? products / all : 0.0);
}

PhaseWork phase_work(const PassTime& pass) {
  return {.device = pass.device, .ends = {}, .kernels = pass.kernels, .products = pass.calls};
}

}  // namespace

LayerTimes layer_times(const OperatorSetting& setting, const DeviceModel& device, bool notes) {
  constexpr Seconds kNever = 1e9_s;
  DeviceModel burst = device;
  burst.power_ramp = kNever;
  LayerTimes times;
  const describe::Model& model = setting.job.model;
  const PartMask selective = workload::selective_parts(setting);
  for (const describe::Block& block : model.blocks) {
    TimeEmit emit(burst, workload::whole_parts(setting, block), selective, notes);
    workload::emit_block(setting, block, emit);
    times.blocks.push_back(emit.take());
  }
  TimeEmit embedding(burst, 0, 0, notes);
  workload::emit_embedding(setting, embedding);
  times.embedding = embedding.take();
  TimeEmit head(burst, 0, 0, notes);
  workload::emit_head(setting, head);
  times.head = head.take();
  if (model.mtp_layers > 0) {
    TimeEmit mtp(burst, workload::whole_parts(setting, workload::mtp_block(model)), selective,
                 notes);
    workload::emit_mtp_entry(setting, mtp);
    workload::emit_mtp_exit(setting, mtp);
    times.mtp = mtp.take();
  }
  return times;
}

StageTime stage_time(const LayerTimes& layers, const Job& job, const Layout& layout,
                     const Stage& stage, const DeviceModel& device) {
  // Step 1. At burst rate.
  PassSums sums;
  for_each_layer(layers, job, layout, stage, [&sums](const LayerTime& layer, const Repeats& times) {
    for (std::size_t i = 0; i < kLayerPasses; ++i) {
      if (const double each = times.of(static_cast<LayerPass>(i)); each > 0.0) {
        sums[i].add(layer.passes[i], each);
      }
    }
  });
  // Step 2. The power limit.
  const double duty = duty_of(sums, device.duty);
  for (PassTime& pass : sums) {
    pass.device += pass.limit * duty;
    pass.attention += pass.attention_limit * duty;
  }
  for_each_layer(layers, job, layout, stage,
                 [&sums, duty](const LayerTime& layer, const Repeats& times) {
                   for (const PartLimit& part : layer.partly) {
                     PassTime& pass = sums[static_cast<std::size_t>(part.pass)];
                     const Seconds once = std::max(Seconds(), part.added * duty - part.spare);
                     const Seconds added = once * times.of(part.pass);
                     pass.device += added;
                     pass.attention += part.attention ? added : Seconds();
                   }
                 });
  // Step 3. By phase.
  StageTime time;
  time.duty = duty;
  const auto at = [&sums](LayerPass pass) { return sums[static_cast<std::size_t>(pass)]; };
  time.work.forward = phase_work(at(LayerPass::kForward));
  time.work.forward.ends = at(LayerPass::kEnds).device;
  time.forward_attention = at(LayerPass::kForward).attention;
  PassTime again = at(LayerPass::kWhole);
  again.add(at(LayerPass::kSelective), 1.0);
  PassTime backward = at(LayerPass::kInputGradient);
  backward.add(at(LayerPass::kWeightGradient), 1.0);
  time.work.recompute = phase_work(again);
  time.work.backward = phase_work(backward);
  time.backward_attention = again.attention + backward.attention;
  time.weight_gradient = at(LayerPass::kWeightGradient).device;
  return time;
}

std::vector<OperatorTime> noted_operators(const LayerTimes& layers, const Job& job,
                                          const Layout& layout, const Stage& stage, double duty) {
  std::vector<OperatorTime> list;
  for_each_layer(
      layers, job, layout, stage, [&list, duty](const LayerTime& layer, const Repeats& repeats) {
        for (const NotedOperator& noted : layer.noted) {
          OperatorTime one{noted.op, repeats.layers, noted.cost, noted.limit * duty};
          add_alike(one, list);
          one.op.pass = Pass::kRecompute;
          one.times =
              (noted.whole ? repeats.full : 0.0) + (noted.selective ? repeats.selective : 0.0);
          if (one.times > 0.0) {
            add_alike(one, list);
          }
        }
      });
  return list;
}

}  // namespace sextant::cost
