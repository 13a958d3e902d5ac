// How long the operators of one layer, or of one end of the model, take: added up by pass, so that
// a stage is a sum of layers and a search works each kind of layer out once.
//
// The power limit sees a whole stage: what it adds goes by the share of time that products take
// there. So a layer keeps its operators at burst rate, what the limit adds at full duty, and apart
// those few operators that the limit slows only once it exceeds their waiting for memory.
//
// The same as microbatch_times() and its sums, but for the order of additions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "cost/compute/device_model.h"
#include "cost/compute/rank_time.h"
#include "workload/operator_emit.h"
#include "workload/stages.h"

namespace sextant::cost {

// Which operators of a layer.
enum class LayerPass : std::uint8_t {
  kForward,
  kEnds,       // of the forward: head and loss
  kWhole,      // of the forward: run again where the layer is recomputed as a whole
  kSelective,  // of the forward: run again where the policy names parts
  kInputGradient,
  kWeightGradient,
};
inline constexpr std::size_t kLayerPasses = 6;

struct PassTime {
  Seconds device;           // at burst rate
  Seconds limit;            // what the power limit adds at full duty
  Seconds products;         // of `device`: matrix units and outputs of products
  Seconds attention;        // of `device`: attention on the chip
  Seconds attention_limit;  // of `limit`
  double kernels = 0.0;
  double calls = 0.0;  // of products
  void add(const PassTime& other, double times) {
    device += other.device * times;
    limit += other.limit * times;
    products += other.products * times;
    attention += other.attention * times;
    attention_limit += other.attention_limit * times;
    kernels += other.kernels * times;
    calls += other.calls * times;
  }
};

// An operator that waits for memory: the limit adds max(0, duty · added − spare).
struct PartLimit {
  LayerPass pass = LayerPass::kForward;
  bool attention = false;
  Seconds added;
  Seconds spare;
};

// An operator of a layer as it was added up.
struct NotedOperator {
  LayerPass pass = LayerPass::kForward;
  bool whole = false;      // again where the layer is recomputed as a whole
  bool selective = false;  // again where the policy names its part
  workload::Operator op;
  OperatorCost cost;   // at burst rate
  double limit = 0.0;  // share of its compute and output that the power limit adds at full duty
};

struct LayerTime {
  std::array<PassTime, kLayerPasses> passes;
  std::vector<PartLimit> partly;
  std::vector<NotedOperator> noted;  // where someone asks what the passes are made of
  [[nodiscard]] const PassTime& at(LayerPass pass) const {
    return passes[static_cast<std::size_t>(pass)];
  }
};

// Every kind of layer of a model under one layout.
struct LayerTimes {
  std::vector<LayerTime> blocks;  // parallel to Model::blocks
  LayerTime embedding;
  LayerTime head;
  LayerTime mtp;  // one depth, around its block
};
// `notes`: keeps the operators as well.
LayerTimes layer_times(const workload::OperatorSetting& setting, const DeviceModel& device,
                       bool notes = false);

// A microbatch of one stage, from its layers.
struct StageTime {
  StageWork work;
  Seconds weight_gradient;     // of the backward
  Seconds forward_attention;   // on the chip
  Seconds backward_attention;  // recomputed too
  double duty = 0.0;           // of the power limit
};
StageTime stage_time(const LayerTimes& layers, const describe::Job& job,
                     const describe::Layout& layout, const workload::Stage& stage,
                     const DeviceModel& device);
// The operators that stage_time() adds up, those that are alike once. REQUIRES: `layers` are noted,
// `duty` is the stage's.
std::vector<OperatorTime> noted_operators(const LayerTimes& layers, const describe::Job& job,
                                          const describe::Layout& layout,
                                          const workload::Stage& stage, double duty);

}  // namespace sextant::cost
