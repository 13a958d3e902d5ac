// What one pipeline stage takes for one microbatch and once a step: compute, and the communication
// that nothing hides.
//
// Messages that the framework hides behind compute (workload::Hides) are exposed as far as they are
// longer than what hides them: tensor-parallel ones behind their product (a share), ring attention
// behind attention, gathers of parameters behind the layers before, expert and pipeline messages
// behind another microbatch. Compute beside communication is slower by `slowed` of its time.
#pragma once

#include <optional>
#include <vector>

#include "cost/compute/layer_time.h"
#include "cost/compute/rank_time.h"
#include "step/layer_messages.h"
#include "step/message_prices.h"
#include "step/step_model.h"
#include "step/step_record.h"
#include "workload/stages.h"
#include "workload/traffic_scene.h"

namespace sextant::step {

// One pass of one microbatch.
struct PassCost {
  Seconds compute;    // of the device
  Seconds host;       // to issue it
  Seconds tail;       // as cost::PhaseTime
  Seconds slowed;     // what communication beside it adds
  AxisTimes exposed;  // but messages between stages
  AxisTimes hidden;
  [[nodiscard]] Seconds device() const { return compute + slowed + exposed.total(); }
  // Alone, host and device together.
  [[nodiscard]] Seconds total() const {
    const Seconds issued = host + tail;
    return device() < issued ? issued : device();
  }
  // Of it, what the device waits for its host.
  [[nodiscard]] Seconds wait() const {
    const Seconds issued = host + tail;
    return device() < issued ? issued - device() : Seconds();
  }
};

// Once a step.
struct OnceCost {
  AxisTimes reduced;       // gradients, where backward may hide them
  Seconds reduced_last;    // the last bucket, which nothing hides
  AxisTimes reduced_bare;  // gradients that nothing hides
  AxisTimes gathered;      // parameters, where forward may hide them
  Seconds gathered_first;
  AxisTimes gathered_bare;
  AxisTimes around_update;  // norms and the like
  cost::PhaseTime update;
};

// The same of all stages of a rank.
struct RankOnce {
  AxisTimes reduced;
  AxisTimes gathered;
  Seconds reduced_last;
  Seconds gathered_first;
  AxisTimes reduced_bare;
  AxisTimes gathered_bare;
  AxisTimes around_update;
  cost::PhaseTime update;
  RankOnce& operator+=(const OnceCost& stage);
};

struct StageCost : OnceCost {
  PassCost forward;
  PassCost backward;
  double weight_share = 0.0;  // of the backward's compute, waits for the host apart
  Seconds send_forward;       // a message to the next stage
  Seconds send_backward;
  bool sends_hidden = false;
  // The weight gradient's part of the backward's time, where a schedule splits it: what is not
  // compute (messages, waiting for the host) falls on both gradients alike.
  [[nodiscard]] Seconds weight_part() const { return backward.total() * weight_share; }
};

// What messages between stages take; nothing: not asked yet.
struct Sends {
  std::optional<Seconds> forward;
  std::optional<Seconds> backward;
};

// What the stages of a layout share.
struct StageSetting {
  const describe::Job& job;  // with this layout
  const workload::Scene& scene;
  const StepModel& model;
  const cost::LayerTimes& layers;
  const std::vector<LayerMessage>& messages;   // of the rank's place
  const std::vector<LayerMessage>& selective;  // those of parts that run again
  const MessagePricer& pricer;                 // of the rank
  MessagePrices& prices;
  Sends& sends;
  const std::vector<NotedLayerMessage>* noted = nullptr;  // of both lists, for a record
};

// What a stage's pricing notes: its passes, and what it does once a step.
struct PricedStage {
  StageRecord passes;
  OnceRecord once;
};

// Does what data parallelism sends belong to no pass?
bool once_apart(const workload::Scene& scene);

// All that concerns microbatches; where not once_apart(), messages once a step as well.
// `record`: notes what it is made of. REQUIRES (here and below): the job is legal, the stage is
// its; for a record, the setting's layers and messages are noted.
StageCost pass_cost(const StageSetting& setting, const workload::Stage& stage,
                    PricedStage* record = nullptr);
// What pass_cost() left out. A search asks for the stages of the slowest rank only.
OnceCost once_cost(const StageSetting& setting, const workload::Stage& stage,
                   PricedStage* record = nullptr);

}  // namespace sextant::step
