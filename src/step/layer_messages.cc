#include "step/layer_messages.h"

#include <algorithm>

#include "workload/end_traffic.h"
#include "workload/stage_traffic.h"

namespace sextant::step {
namespace {

using workload::Collective;
using workload::Hides;
using workload::Phase;
using workload::Scene;
using workload::Stage;

// Prices each message and adds it to its like.
class PriceSink {
 public:
  PriceSink(const MessagePricer& pricer, MessagePrices& prices, std::vector<LayerMessage>& list,
            std::vector<NotedLayerMessage>* noted)
      : pricer_(pricer), prices_(prices), list_(list), noted_(noted) {}
  // Messages that follow belong to this layer and pass.
  void enter(std::size_t layer, MessagePass pass) {
    layer_ = static_cast<std::uint16_t>(layer);
    pass_ = pass;
  }
  void add(const Collective& message) {
    LayerMessage priced{layer_, pass_, message.hides, axis_of(message.group),
                        prices_.once(pricer_, message)};
    if (noted_ != nullptr) {
      noted_->push_back({layer_, pass_, message, priced.each});
    }
    if (priced.hides == Hides::kNextLayers) {
      list_.insert(list_.end(), static_cast<std::size_t>(message.count), priced);
      return;
    }
    priced.each *= static_cast<double>(message.count);
    const auto like = std::ranges::find_if(list_, [&priced](const LayerMessage& other) {
      return other.layer == priced.layer && other.pass == priced.pass &&
             other.hides == priced.hides && other.axis == priced.axis;
    });
    if (like != list_.end()) {
      like->each += priced.each;
    } else {
      list_.push_back(priced);
    }
  }
  void reach(workload::Part /*part*/) {}

 private:
  const MessagePricer& pricer_;
  MessagePrices& prices_;
  std::vector<LayerMessage>& list_;
  std::vector<NotedLayerMessage>* noted_;
  std::uint16_t layer_ = 0;
  MessagePass pass_ = MessagePass::kForward;
};

void block_messages(const Scene& scene, std::size_t index, PriceSink& sink) {
  const describe::Block& block = scene.model.blocks[index];
  sink.enter(index, MessagePass::kForward);
  workload::layer_forward(scene, block, {.count = 1}, sink);
  if (!scene.trains) {
    return;
  }
  // As layer_again() has it, for one layer of one microbatch.
  const workload::PartMask whole = workload::parts_of_whole_layer(block, scene.job.framework);
  sink.enter(index, MessagePass::kWhole);
  workload::layer_forward(scene, block, {.count = 1, .phase = Phase::kRecompute, .parts = whole},
                          sink);
  sink.enter(index, MessagePass::kBackward);
  workload::layer_backward(scene, block, 1, sink);
}

// How often a stage has the messages of a layer in a microbatch.
struct Repeats {
  std::int64_t layers = 0;
  std::int64_t full = 0;
  std::int64_t selective = 0;
  [[nodiscard]] double of(MessagePass pass) const {
    return static_cast<double>(pass == MessagePass::kWhole       ? full
                               : pass == MessagePass::kSelective ? selective
                                                                 : layers);
  }
};

Repeats repeats_of(std::size_t layer, const Scene& scene, const Stage& stage) {
  const std::size_t blocks = stage.blocks.size();
  const workload::RecomputedLayers predicted =
      workload::recomputed_mtp_layers(scene.layout.recompute, stage.mtp_layers);
  if (layer < blocks) {
    const std::int64_t layers = workload::layers_holding(scene, workload::view_of(stage), layer);
    if (layers == 0) {
      return {};
    }
    const workload::RecomputedLayers again = workload::recomputed_layers(
        scene.layout.recompute, scene.model, stage, static_cast<std::int64_t>(layer));
    const bool predicts = layer == static_cast<std::size_t>(scene.model.mtp_block);
    return {layers, again.full + (predicts ? predicted.full : 0),
            again.selective + (predicts ? predicted.selective : 0)};
  }
  if (layer == blocks) {
    return {(stage.embedding ? 1 : 0) + stage.mtp_layers, 0, 0};
  }
  if (layer == blocks + 1) {
    return {(stage.head ? 1 : 0) + stage.mtp_layers, 0, 0};
  }
  return {stage.mtp_layers, predicted.full, 0};
}

}  // namespace

std::vector<LayerMessage> layer_messages(const Scene& scene, const MessagePricer& pricer,
                                         MessagePrices& prices,
                                         std::vector<NotedLayerMessage>* noted) {
  std::vector<LayerMessage> list;
  PriceSink sink(pricer, prices, list, noted);
  const std::size_t blocks = scene.model.blocks.size();
  for (std::size_t index = 0; index < blocks; ++index) {
    block_messages(scene, index, sink);
  }
  sink.enter(blocks, MessagePass::kForward);
  workload::embedding_forward(scene, 1, sink);
  sink.enter(blocks + 1, MessagePass::kForward);
  workload::head_forward(scene, 1, sink);
  if (scene.trains) {
    sink.enter(blocks, MessagePass::kBackward);
    workload::embedding_backward(scene, 1, sink);
    sink.enter(blocks + 1, MessagePass::kBackward);
    workload::head_backward(scene, 1, sink);
  }
  if (scene.model.mtp_layers == 0) {
    return list;
  }
  sink.enter(blocks + 2, MessagePass::kForward);
  workload::projection_forward(scene, 1, Phase::kForward, sink);
  if (scene.trains) {
    sink.enter(blocks + 2, MessagePass::kWhole);
    workload::projection_forward(scene, 1, Phase::kRecompute, sink);
    sink.enter(blocks + 2, MessagePass::kBackward);
    workload::projection_backward(scene, 1, sink);
  }
  return list;
}

std::vector<LayerMessage> selective_messages(const Scene& scene, const MessagePricer& pricer,
                                             MessagePrices& prices,
                                             std::vector<NotedLayerMessage>* noted) {
  std::vector<LayerMessage> list;
  PriceSink sink(pricer, prices, list, noted);
  for (std::size_t index = 0; index < scene.model.blocks.size(); ++index) {
    sink.enter(index, MessagePass::kSelective);
    workload::layer_forward(scene, scene.model.blocks[index],
                            {.count = 1, .phase = Phase::kRecompute, .parts = scene.selective},
                            sink);
  }
  return list;
}

namespace {

// Visits each message that the stage has with how often it has it in a microbatch.
template <class Message, class Visit>
void for_each_repeated(const std::vector<Message>& messages, const Scene& scene, const Stage& stage,
                       Visit&& visit) {
  // Under DualPipe a rank runs half of the microbatches of a stage.
  const double share = static_cast<double>(scene.microbatches) /
                       static_cast<double>(std::max<std::int64_t>(1, scene.shard.microbatches));
  std::size_t layer = SIZE_MAX;
  Repeats repeats;
  for (const Message& message : messages) {
    if (message.layer != layer) {
      layer = message.layer;
      repeats = repeats_of(layer, scene, stage);
    }
    const double times = repeats.of(message.pass) * share;
    if (times > 0.0) {
      visit(message, times);
    }
  }
}

}  // namespace

void add_layers(const std::vector<LayerMessage>& messages, const Scene& scene, const Stage& stage,
                PassMessages& sums) {
  for_each_repeated(messages, scene, stage, [&sums](const LayerMessage& message, double times) {
    Messages& into = message.pass == MessagePass::kForward ? sums.forward : sums.backward;
    into.add(message.hides, message.axis, message.each, times);
  });
}

void note_layers(const std::vector<NotedLayerMessage>& messages, const Scene& scene,
                 const Stage& stage, StageRecord& record) {
  for_each_repeated(messages, scene, stage, [&](const NotedLayerMessage& noted, double times) {
    PassRecord& pass = noted.pass == MessagePass::kForward ? record.forward : record.backward;
    add_alike({noted.message, noted.each, times * static_cast<double>(noted.message.count), {}},
              pass.messages);
  });
}

}  // namespace sextant::step
