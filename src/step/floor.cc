#include "step/floor.h"

#include <algorithm>

namespace sextant::step {
namespace {

// Without data parallelism's messages, which go by how states are sharded, and without what hidden
// messages slow.
Seconds on_device(const PassCost& pass) {
  return pass.compute + pass.exposed.total() - pass.exposed[Axis::kData];
}

// With what its hidden messages slow at least. What the host takes has nothing beside it.
Seconds least(const PassCost& pass, Seconds slowed = {}) {
  return std::max(on_device(pass) + slowed, pass.host + pass.tail);
}

}  // namespace

void StepFloor::lower_to(const StepFloor& other) {
  const auto lower = [](PassFloor& pass, const PassFloor& to) {
    pass.forward = std::min(pass.forward, to.forward);
    pass.backward = std::min(pass.backward, to.backward);
  };
  microbatch = std::min(microbatch, other.microbatch);
  compute = std::min(compute, other.compute);
  compute_share = std::min(compute_share, other.compute_share);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    lower(blocks[i], other.blocks[i]);
  }
  lower(embedding, other.embedding);
  lower(head, other.head);
}

// The stage's time on its device; lowers `share` to its part of compute. `alone`: data
// parallelism's messages may be among those that slow it.
PassFloor StepFloors::see(const workload::Stage& stage, bool alone, double& share) {
  const StageCost cost = parts_.pass_cost(stage);
  const Seconds compute = cost.forward.compute + cost.backward.compute;
  const Seconds time = cost.forward.total() + cost.backward.total();
  share = time > Seconds() ? std::min(share, compute / time) : 0.0;
  const auto slowed = [&](const PassCost& pass) { return alone ? Seconds() : pass.slowed; };
  slowed_ = {slowed(cost.forward), slowed(cost.backward)};
  return {on_device(cost.forward) + slowed_.forward, on_device(cost.backward) + slowed_.backward};
}

// A rank's layers and ends are a mixture of these stages, so its share of compute lies between
// theirs.
PassFloor StepFloors::add_parts(bool alone, StepFloor& floor) {
  PassFloor slowed;
  workload::Stage one = parts_.plan().kinds.front();
  const std::vector<std::int64_t> all = one.blocks;
  const std::int64_t predicted = one.mtp_layers;
  double unused = 1.0;
  floor.compute_share = 1.0;
  floor.blocks.assign(all.size(), {});
  const auto ends = [&](bool embedding, bool head) {
    one.embedding = embedding;
    one.head = head;
    one.mtp_layers = head ? predicted : 0;
  };
  std::fill(one.blocks.begin(), one.blocks.end(), 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == 0) {
      continue;
    }
    one.blocks[i] = 1;
    one.layers = 1;
    ends(false, false);
    floor.blocks[i] = see(one, alone, floor.compute_share);
    // On any stage at least as much as alone.
    slowed.forward += slowed_.forward * static_cast<double>(all[i]);
    slowed.backward += slowed_.backward * static_cast<double>(all[i]);
    ends(true, false);
    see(one, alone, floor.compute_share);
    ends(false, true);
    see(one, alone, floor.compute_share);
    one.blocks[i] = 0;
  }
  one.layers = 0;
  ends(true, false);
  floor.embedding = see(one, alone, unused);
  ends(false, true);
  floor.head = see(one, alone, unused);
  return slowed;
}

void StepFloors::fill(const describe::Layout& layout, bool alone, Seconds enough,
                      StepFloor& floor) {
  parts_.enter(layout);
  const StageCost all = parts_.pass_cost(parts_.plan().kinds.front());
  floor.microbatch = least(all.forward) + least(all.backward);
  floor.compute = all.forward.compute + all.backward.compute;
  floor.compute_share = 0.0;
  if (floor.microbatch >= enough) {
    return;
  }
  const PassFloor slowed = add_parts(alone, floor);
  floor.microbatch = least(all.forward, slowed.forward) + least(all.backward, slowed.backward);
  floor.compute_share = alone ? 0.0 : floor.compute_share;
}

Seconds StepFloors::compute(const describe::Layout& layout) {
  job_.layout = layout;
  const workload::Shard shard = workload::shard_of(job_);
  const workload::OperatorSetting setting(job_, job_.layout, shard);
  const cost::LayerTimes times = cost::layer_times(setting, model_.device);
  workload::fill_stage(job_, job_.layout, index_, 0, stage_);
  const cost::StageTime time = cost::stage_time(times, job_, job_.layout, stage_, model_.device);
  return time.work.forward.device + time.work.backward.device;
}

}  // namespace sextant::step
