#include "step/layout_parts.h"

#include <bit>
#include <utility>

namespace sextant::step {
namespace {

using describe::Layout;
using workload::Shard;
using workload::Stage;

// Sizes that no walk over operators reads, set alike.
Shard without_replicas(Shard shard) {
  shard.pp = shard.pp > 1 ? 2 : 1;  // a tied head is a copy of its own where there are two stages
  shard.vpp = 1;
  shard.dp = 1;
  shard.expert_dp = 1;
  shard.zero_shards = 1;
  shard.expert_shards = 1;
  shard.replicas = 1;
  shard.microbatches = 1;
  return shard;
}

// The same for messages inside layers: what says where groups lie stays.
Shard without_microbatches(Shard shard) {
  shard.vpp = 1;
  shard.zero_shards = 1;
  shard.expert_shards = 1;
  shard.replicas = 1;
  shard.microbatches = 1;
  return shard;
}

std::int64_t bits_of(double number) {
  return std::bit_cast<std::int64_t>(number);
}

}  // namespace

LayoutParts::PlanKey::PlanKey(const PlanProbe& probe)
    : pp(probe.layout.pp),
      vpp(probe.layout.vpp),
      schedule(probe.layout.schedule),
      split(probe.layout.split),
      places(probe.places),
      by_place(probe.by_place),
      once_apart(probe.once_apart) {}

bool LayoutParts::PlanKey::operator==(const PlanProbe& probe) const {
  return pp == probe.layout.pp && vpp == probe.layout.vpp && schedule == probe.layout.schedule &&
         places == probe.places && by_place == probe.by_place && once_apart == probe.once_apart &&
         split == probe.layout.split;
}

std::size_t LayoutParts::PlanBytes::operator()(const StagePlan& plan) const {
  std::size_t bytes = sizeof(PlanKey) + sizeof(plan) + bytes_of(plan.kinds) + bytes_of(plan.once) +
                      bytes_of(plan.ranks) + bytes_of(plan.kind_of) + bytes_of(plan.once_of) +
                      bytes_of(plan.rank_of);
  for (const std::vector<Stage>* stages : {&plan.kinds, &plan.once}) {
    for (const Stage& stage : *stages) {
      bytes += bytes_of(stage.blocks);
    }
  }
  for (const StagePlan::Ranks& ranks : plan.ranks) {
    bytes += bytes_of(ranks.kinds) + bytes_of(ranks.once);
  }
  return bytes;
}

std::size_t LayoutParts::OperatorBytes::operator()(const cost::LayerTimes& times) const {
  std::size_t bytes = sizeof(OperatorKey) + sizeof(times) + bytes_of(times.blocks) +
                      bytes_of(times.embedding.partly) + bytes_of(times.head.partly) +
                      bytes_of(times.mtp.partly);
  for (const cost::LayerTime& block : times.blocks) {
    bytes += bytes_of(block.partly);
  }
  return bytes;
}

std::size_t LayoutParts::MessageBytes::operator()(const std::vector<LayerMessage>& messages) const {
  return sizeof(MessageKey) + sizeof(messages) + bytes_of(messages);
}

LayoutParts::LayoutParts(const describe::Job& job, const StepModel& model,
                         const PartOptions& options)
    : job_(job),
      model_(model),
      index_(job.model),
      grid_({}, {}),
      every_rank_(options.every_rank),
      prices_(options.keep),
      plans_(options.keep.plans),
      once_parts_(options.keep.once),
      operator_parts_(options.keep.operators),
      message_parts_(options.keep.messages) {}

void LayoutParts::enter(const Layout& layout) {
  job_.layout = layout;
  shard_ = workload::shard_of(job_);
  grid_ = workload::RankGrid(job_.layout, shard_);
  scene_.emplace(workload::scene_of(job_, job_.layout, shard_, even_));
  pricer_.emplace(message_pricer(job_, shard_, grid_, 0, model_));
  prices_.enter(job_.layout, shard_);
  places_ =
      every_rank_ ? places_apart(shard_.pp) : pipeline_places(grid_, shard_.pp, model_.domain_size);
  find_plan();
  find_operators();
  messages_ = nullptr;
  find_all_messages(pricer());
  fill_pass_key();
}

void LayoutParts::fill_pass_key() {
  const Layout& at = layout();
  pass_key_.microbatches = shard_.microbatches;
  pass_key_.region_bytes = scene().region_bytes;
  pass_key_.launch = at.launch;
  pass_key_.precision = at.precision;
  pass_key_.granularity = at.recompute.granularity;
  pass_key_.method = at.recompute.method;
  pass_key_.layers = at.recompute.layers;
  pass_key_.skips = workload::skips_layers(at.recompute);
  pass_key_.pipeline = scene().pipeline;
}

std::size_t LayoutParts::PassKey::hash() const {
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  return hash_of({number(plan), number(operators), number(messages), number(selective),
                  microbatches, static_cast<std::int64_t>(granularity), layers});
}

void LayoutParts::find_plan() {
  const Layout& layout = job_.layout;
  const bool apart = once_apart(scene());
  const PlanProbe probe{layout, places_, workload::counts_layers(layout.recompute), apart};
  const std::vector<std::int64_t>& layers = layout.split.layers_per_stage;
  const std::size_t hash =
      hash_of({layout.pp, layout.vpp, static_cast<std::int64_t>(layout.schedule), places_.period,
               layers.empty() ? 0 : layers.front(), layers.empty() ? 0 : layers.back(),
               layers.empty() ? 0 : layers[layers.size() / 2]});
  const auto found =
      plans_.get(hash, probe, [&] { return stage_plan(job_, layout, index_, places_, apart); });
  plan_ = &found.value;
  pass_key_.plan = found.number;
}

void LayoutParts::find_operators() {
  const workload::OperatorSetting setting(job_, job_.layout, shard_);
  const OperatorKey key{.shard = without_replicas(shard_),
                        .walk = setting.walk,
                        .passes = setting.passes,
                        .parameters = setting.parameters,
                        .selective = setting.selective};
  const std::size_t hash = hash_of(
      {shard_.tp, shard_.cp, shard_.mbs, shard_.ep, shard_.etp, shard_.sp ? 1 : 0,
       static_cast<std::int64_t>(setting.selective), bits_of(setting.parameters.accumulate_read),
       bits_of(setting.parameters.dense_share), bits_of(setting.parameters.dense_gradient_share)});
  const auto found =
      operator_parts_.get(hash, key, [&] { return cost::layer_times(setting, model_.device); });
  operators_ = &found.value;
  pass_key_.operators = found.number;
}

LayoutParts::MessageMemo::Found LayoutParts::find_messages(const MessagePricer& pricer,
                                                           workload::PartMask selective) {
  const workload::Scene& at = scene();
  const MessageKey key{.shard = without_microbatches(shard_),
                       .order = at.layout.order,
                       .rank = pricer.rank,
                       .dispatcher = at.layout.dispatcher,
                       .cp_method = at.layout.cp_method,
                       .cp_inner = at.layout.cp_inner,
                       .loss = at.layout.loss,
                       .selective = selective,
                       .activation = at.activation,
                       .tensor_forward = at.tensor_forward,
                       .tensor_backward = at.tensor_backward,
                       .expert = at.expert,
                       .ring = at.ring,
                       .context = at.context};
  const std::size_t hash =
      hash_of({shard_.tp, shard_.cp, shard_.mbs, shard_.ep, shard_.etp, shard_.dp, shard_.pp,
               pricer.rank, static_cast<std::int64_t>(selective)});
  return message_parts_.get(hash, key, [&] {
    return selective == 0 ? layer_messages(at, pricer, prices_)
                          : selective_messages(at, pricer, prices_);
  });
}

void LayoutParts::find_all_messages(const MessagePricer& pricer) {
  const workload::PartMask selective = scene().trains ? scene().selective : 0;
  selective_ = &none_;
  pass_key_.selective = UINT64_MAX;
  if (selective != 0) {
    const auto again = find_messages(pricer, selective);
    selective_ = &again.value;
    pass_key_.selective = again.number;
  }
  const auto all = find_messages(pricer, 0);
  messages_ = &all.value;
  pass_key_.messages = all.number;
  sends_ = {};
}

MessagePricer LayoutParts::pricer_of(const Stage& stage) const {
  MessagePricer own = pricer();
  own.rank = grid_.on_pipeline_rank(0, places_.place_of(stage.pipeline_rank));
  return own;
}

StageCost LayoutParts::pass_cost(const Stage& stage) {
  const MessagePricer pricer = pricer_of(stage);
  if (!places_.all_alike(shard_.pp)) {
    find_all_messages(pricer);
  }
  return step::pass_cost(setting(pricer), stage);
}

OnceCost LayoutParts::once_beside(std::size_t index, const StageCost& passes) {
  const Stage& stage = plan_->once[index];
  OnceCost cost = static_cast<const OnceCost&>(passes);
  cost.update = step::once_cost(setting(pricer_of(stage)), stage).update;
  return cost;
}

OnceCost LayoutParts::once_cost(std::size_t index) {
  const Stage& stage = plan_->once[index];
  return step::once_cost(setting(pricer_of(stage)), stage);
}

std::vector<RankOnce> LayoutParts::make_onces() {
  once_stages_.clear();
  for (std::size_t i = 0; i < plan_->once.size(); ++i) {
    once_stages_.push_back(once_cost(i));
  }
  std::vector<RankOnce> all;
  all.reserve(plan_->ranks.size());
  for (const StagePlan::Ranks& ranks : plan_->ranks) {
    RankOnce& own = all.emplace_back();
    for (const std::uint16_t stage : ranks.once) {
      own += once_stages_[stage];
    }
  }
  return all;
}

const std::vector<RankOnce>& LayoutParts::rank_onces() {
  const OnceKey key{.plan = pass_key_.plan,
                    .place = prices_.place(),
                    .sp = shard_.sp,
                    .zero = layout().zero,
                    .precision = layout().precision,
                    .parameters = layout().parameters,
                    .gradients = layout().gradients,
                    .optimizer = layout().optimizer,
                    .reduce = scene().reduce,
                    .gather = scene().gather};
  const std::size_t hash = hash_of({static_cast<std::int64_t>(key.plan), key.place,
                                    static_cast<std::int64_t>(key.zero) * 64 +
                                        static_cast<std::int64_t>(key.reduce) * 8 +
                                        static_cast<std::int64_t>(key.gather),
                                    static_cast<std::int64_t>(key.precision)});
  return once_parts_.get(hash, key, [&] { return make_onces(); }).value;
}

// As pass_cost() does, every layer's operators and messages noted.
PricedStage LayoutParts::priced(const Stage& stage) {
  const MessagePricer pricer = pricer_of(stage);
  if (!places_.all_alike(shard_.pp)) {
    find_all_messages(pricer);
  }
  const cost::LayerTimes layers =
      cost::layer_times(workload::OperatorSetting(job_, job_.layout, shard_), model_.device, true);
  std::vector<NotedLayerMessage> noted;
  const auto all = layer_messages(scene(), pricer, prices_, &noted);
  std::vector<LayerMessage> again;
  if (scene().trains && scene().selective != 0) {
    again = selective_messages(scene(), pricer, prices_, &noted);
  }
  PricedStage record;
  step::pass_cost({job_, scene(), model_, layers, all, again, pricer, prices_, sends_, &noted},
                  stage, &record);
  return record;
}

StageRecord LayoutParts::pass_record(const Stage& stage) {
  return std::move(priced(stage).passes);
}

OnceRecord LayoutParts::once_record(std::size_t index, const Stage& kind) {
  const Stage& stage = plan_->once[index];
  PricedStage record;
  if (!passes_apart()) {
    record.once = priced(kind).once;
  }
  step::once_cost(setting(pricer_of(stage)), stage, &record);
  return std::move(record.once);
}

}  // namespace sextant::step
