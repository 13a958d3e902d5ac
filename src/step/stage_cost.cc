#include "step/stage_cost.h"

#include <algorithm>
#include <utility>

#include "workload/stage_traffic.h"

namespace sextant::step {
namespace {

using workload::Collective;
using workload::GroupKind;
using workload::Hides;
using workload::Phase;
using workload::Scene;

// Which share of so much a budget of compute does not hide.
double beyond(Seconds all, Seconds budget) {
  return all <= budget ? 0.0 : (all - budget) / all;
}

ExposedShares expose(const Messages& messages, Seconds attention, const StepModel& model,
                     PassCost& pass) {
  ExposedShares shares;
  pass.exposed = messages.bare;
  if (!messages.hideable()) {
    return shares;
  }
  const describe::StepFacts& facts = model.facts;
  AxisTimes hideable;
  const auto hide = [&](Hides hides, const AxisTimes& times, double share) {
    hideable += times;
    pass.exposed += times * share;
    shares[hides] = share;
  };
  Seconds free = pass.compute;  // hides nothing yet: a second hides one second
  if (messages.has(Hides::kGemm)) {
    hide(Hides::kGemm, messages.behind_product, 1.0 - facts.hidden_tensor.value);
  }
  if (messages.has(Hides::kAttention)) {
    const Seconds all = messages.behind_attention.total();
    hide(Hides::kAttention, messages.behind_attention, beyond(all, attention));
    free -= std::min(all, attention);
  }
  if (messages.has(Hides::kNextLayers)) {
    const Seconds all = messages.behind_layers.total();
    hide(Hides::kNextLayers, messages.behind_layers,
         beyond(all, free * facts.hiding_compute.value));
    shares.first = std::min(messages.unit, all);
    pass.exposed[Axis::kData] += shares.first;
  }
  if (messages.has(Hides::kMicrobatch)) {
    hide(Hides::kMicrobatch, messages.behind_microbatch, 1.0 - facts.hidden_expert.value);
  }
  const Seconds exposed = pass.exposed.total() - messages.bare.total();
  const Seconds all = hideable.total();
  const Seconds hidden = std::max(Seconds(), all - exposed);
  pass.hidden = hideable * (all > Seconds() ? hidden / all : 0.0);
  pass.slowed = std::min(hidden, pass.compute) * facts.slowed.value;
  return shares;
}

void set_compute(const cost::PhaseTime& phase, const StepModel& model, PassCost& pass) {
  pass.compute = phase.device;
  pass.host = phase.host * model.facts.host.value;
  pass.tail = phase.tail;
}

// A message outside the passes.
void add_message(const Collective& message, Seconds each, StageCost& cost) {
  const Seconds all = each * static_cast<double>(message.count);
  const Axis axis = axis_of(message.group);
  const bool hides = message.hides == Hides::kNextLayers;
  switch (message.phase) {
    case Phase::kGradient:
      (hides ? cost.reduced : cost.reduced_bare)[axis] += all;
      cost.reduced_last = hides ? std::max(cost.reduced_last, each) : cost.reduced_last;
      break;
    case Phase::kGather:
      (hides ? cost.gathered : cost.gathered_bare)[axis] += all;
      cost.gathered_first = hides ? std::max(cost.gathered_first, each) : cost.gathered_first;
      break;
    case Phase::kUpdate:
    case Phase::kForward:
    case Phase::kRecompute:
    case Phase::kBackward:
      cost.around_update[axis] += all;
      break;
  }
}

// Takes the messages of a stage as the generators hand them out.
class StageSink {
 public:
  StageSink(const StageSetting& setting, PassMessages& passes, StageCost& cost, PricedStage* record)
      : setting_(setting),
        microbatches_(
            static_cast<double>(std::max<std::int64_t>(1, setting.scene.shard.microbatches))),
        passes_(passes),
        cost_(cost),
        record_(record) {}

  void add(const Collective& message) {
    if (message.group == GroupKind::kPipeline) {
      send(message);
      return;
    }
    const Seconds each = setting_.prices.once(setting_.pricer, message);
    const double times = static_cast<double>(message.count) / microbatches_;
    if (message.phase == Phase::kForward) {
      passes_.forward.add(message.hides, axis_of(message.group), each, times);
    } else if (message.phase == Phase::kRecompute || message.phase == Phase::kBackward) {
      passes_.backward.add(message.hides, axis_of(message.group), each, times);
    } else {
      add_message(message, each, cost_);
    }
    if (record_ != nullptr) {
      note(message, each);
    }
  }
  void reach(workload::Part /*part*/) {}

 private:
  void note(const Collective& message, Seconds each) {
    const auto all = static_cast<double>(message.count);
    const bool forward = message.phase == Phase::kForward;
    if (forward || message.phase == Phase::kRecompute || message.phase == Phase::kBackward) {
      add_alike({message, each, all / microbatches_, {}},
                (forward ? record_->passes.forward : record_->passes.backward).messages);
    } else {
      add_alike({message, each, all, {}}, record_->once.messages);
    }
  }
  // The same for every stage whose ranks lie alike.
  void send(const Collective& message) {
    const bool forward = message.phase == Phase::kForward;
    std::optional<Seconds>& known = forward ? setting_.sends.forward : setting_.sends.backward;
    if (!known) {
      known = setting_.prices.once(setting_.pricer, message);
    }
    (forward ? cost_.send_forward : cost_.send_backward) = *known;
    cost_.sends_hidden = message.hides != Hides::kNothing;
  }

  const StageSetting& setting_;
  double microbatches_;
  PassMessages& passes_;
  StageCost& cost_;
  PricedStage* record_;
};

// Every training framework clips.
cost::RankSetting rank_setting(const StepModel& model) {
  return {.device = model.device, .host = model.host, .clips = true};
}

void note_exposed(ExposedShares shares, PassRecord& pass) {
  for (NotedMessage& noted : pass.messages) {
    noted.exposed = noted.all() * shares[noted.message.hides];
  }
  pass.first = shares.first;
}

void note_compute(const StageSetting& setting, const workload::Stage& stage, double duty,
                  const cost::RankTime& time, StageRecord& record) {
  for (cost::OperatorTime& one :
       cost::noted_operators(setting.layers, setting.job, setting.scene.layout, stage, duty)) {
    const bool forward = one.op.pass == workload::Pass::kForward;
    (forward ? record.forward : record.backward).operators.push_back(std::move(one));
  }
  record.forward.first_gather = time.first_gather;
  record.forward.expert_wait = time.expert_wait;
  record.backward.expert_wait = time.expert_wait;
}

void add_replicas(const StageSetting& setting, const workload::StageView& stage, StageSink& sink) {
  const Scene& scene = setting.scene;
  const bool summed = workload::asks_sums(scene);
  workload::replica_messages(
      scene, stage, summed ? workload::step_sums(scene, stage) : workload::StepSums(), sink);
}

}  // namespace

RankOnce& RankOnce::operator+=(const OnceCost& stage) {
  reduced += stage.reduced;
  gathered += stage.gathered;
  reduced_last = std::max(reduced_last, stage.reduced_last);
  gathered_first = std::max(gathered_first, stage.gathered_first);
  reduced_bare += stage.reduced_bare;
  gathered_bare += stage.gathered_bare;
  around_update += stage.around_update;
  update += stage.update;
  return *this;
}

bool once_apart(const Scene& scene) {
  const bool buckets = scene.data == workload::DataDialect::kMegatron ||
                       scene.data == workload::DataDialect::kDeepspeed;
  return buckets && (scene.layout.zero == describe::Zero::kNone ||
                     scene.layout.zero == describe::Zero::kOptimizer);
}

StageCost pass_cost(const StageSetting& setting, const workload::Stage& stage,
                    PricedStage* record) {
  const Scene& scene = setting.scene;
  const StepModel& model = setting.model;
  StageCost cost;
  const cost::StageTime time =
      cost::stage_time(setting.layers, setting.job, scene.layout, stage, model.device);
  const cost::RankTime rank = cost::microbatch_time(setting.job, scene.layout, stage, scene.shard,
                                                    rank_setting(model), time.work);
  set_compute(rank.forward, model, cost.forward);
  set_compute(rank.backward, model, cost.backward);
  const Seconds computed = time.work.backward.device + time.work.recompute.device;
  cost.weight_share = computed > Seconds() ? time.weight_gradient / computed : 0.0;
  PassMessages messages;
  add_layers(setting.messages, scene, stage, messages);
  add_layers(setting.selective, scene, stage, messages);
  StageSink sink(setting, messages, cost, record);
  const workload::StageView view = workload::view_of(stage);
  workload::parameter_messages(scene, view, sink);
  workload::pipeline_messages(scene, view, sink);
  if (!once_apart(scene)) {
    add_replicas(setting, view, sink);
  }
  const ExposedShares forward =
      expose(messages.forward, time.forward_attention, model, cost.forward);
  const ExposedShares backward =
      expose(messages.backward, time.backward_attention, model, cost.backward);
  if (record != nullptr) {
    note_compute(setting, stage, time.duty, rank, record->passes);
    note_layers(*setting.noted, scene, stage, record->passes);
    note_exposed(forward, record->passes.forward);
    note_exposed(backward, record->passes.backward);
  }
  return cost;
}

OnceCost once_cost(const StageSetting& setting, const workload::Stage& stage, PricedStage* record) {
  const Scene& scene = setting.scene;
  StageCost cost;
  cost.update =
      cost::update_time(setting.job, scene.layout, stage, scene.shard, rank_setting(setting.model),
                        record != nullptr ? &record->once.update : nullptr);
  cost.update.host = cost.update.host * setting.model.facts.host.value;
  if (once_apart(scene)) {
    PassMessages none;
    StageSink sink(setting, none, cost, record);
    add_replicas(setting, workload::view_of(stage), sink);
  }
  return static_cast<const OnceCost&>(cost);
}

}  // namespace sextant::step
