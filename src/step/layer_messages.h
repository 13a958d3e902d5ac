// What the messages inside one layer, or at one end of the model, take in one microbatch: priced
// once a layout, so that a stage's are a sum over its layers.
//
// These are the messages that grow with layers whatever data parallelism does: tensor, context and
// expert parallelism (workload/layer_traffic.h, end_traffic.h). Parameters gathered layer by layer
// are not among them.
#pragma once

#include <cstdint>
#include <vector>

#include "step/message_prices.h"
#include "step/messages.h"
#include "step/step_record.h"
#include "workload/stages.h"
#include "workload/traffic_scene.h"

namespace sextant::step {

enum class MessagePass : std::uint8_t {
  kForward,
  kWhole,      // again, where the layer is recomputed as a whole
  kSelective,  // again, where the policy names parts
  kBackward,
};

// All messages of one kind in one pass of a layer. Those behind layers are not added up: the
// longest counts by itself.
struct LayerMessage {
  std::uint16_t layer = 0;  // of Model::blocks; then embedding, head, multi-token projection
  MessagePass pass = MessagePass::kForward;
  workload::Hides hides = workload::Hides::kNothing;
  Axis axis = Axis::kTensor;
  Seconds each;
};

// A message as it was priced.
struct NotedLayerMessage {
  std::uint16_t layer = 0;
  MessagePass pass = MessagePass::kForward;
  workload::Collective message;
  Seconds each;
};

// `noted`: the messages that the list is the sum of. REQUIRES: fewer than 65,000 blocks.
std::vector<LayerMessage> layer_messages(const workload::Scene& scene, const MessagePricer& pricer,
                                         MessagePrices& prices,
                                         std::vector<NotedLayerMessage>* noted = nullptr);
// Those of MessagePass::kSelective, which are left out above.
std::vector<LayerMessage> selective_messages(const workload::Scene& scene,
                                             const MessagePricer& pricer, MessagePrices& prices,
                                             std::vector<NotedLayerMessage>* noted = nullptr);

// Those of a stage. REQUIRES: `messages` are the scene's.
struct PassMessages {
  Messages forward;
  Messages backward;
};
void add_layers(const std::vector<LayerMessage>& messages, const workload::Scene& scene,
                const workload::Stage& stage, PassMessages& sums);
// The same messages, noted in the passes of the stage's record.
void note_layers(const std::vector<NotedLayerMessage>& messages, const workload::Scene& scene,
                 const workload::Stage& stage, StageRecord& record);

}  // namespace sextant::step
