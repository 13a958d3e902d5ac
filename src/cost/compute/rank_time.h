// How long one rank computes, communication apart: what its device takes for the operators, what
// its host takes to issue them, and what comes of the two.
//
// The host runs ahead of the device. It issues h seconds of work while the device does d: a phase
// that begins when both are free ends after max(h + tail, d), the tail being the work that is
// issued last (a forward ends in head and loss, a few long kernels), and what the device still has
// to do when the host is done delays nothing but the phase after it (RankClock).
//
// Host: kernels × time a kernel, and what the framework does beside them: Python of a layer,
// DTensor for each product, FSDP's hooks for each unit, the optimizer's loop over tensors. Compiled
// code launches without Python, CUDA graphs without the host. Constants: data/host.toml.
//
// Left out: kernels that two streams run at once, the limit of the launch queue, data loading.
#pragma once

#include <span>
#include <vector>

#include "base/units.h"
#include "cost/compute/device_model.h"
#include "cost/compute/operator_time.h"
#include "describe/host_facts.h"
#include "describe/layout/job.h"
#include "workload/operator.h"
#include "workload/shard.h"
#include "workload/stages.h"

namespace sextant::cost {

struct PhaseTime {
  Seconds device;
  Seconds host;
  Seconds tail = {};  // of `device`: issued in the end, when the host has nothing else to do
  double kernels = 0.0;
  constexpr PhaseTime& operator+=(const PhaseTime& other) {
    device += other.device;
    host += other.host;
    tail += other.tail;
    kernels += other.kernels;
    return *this;
  }
};

// How an optimizer goes through the parameters.
enum class UpdateLoop : std::uint8_t { kFused, kForeach, kLoop };

struct RankTime {
  PhaseTime forward;   // of one microbatch
  PhaseTime backward;  // of one microbatch, recomputation included
  PhaseTime update;    // once a step
  // Of the device's time, what it waits for: FSDP's first gather, in every forward, and experts
  // that are issued one by one, in every forward and backward.
  Seconds first_gather = {};
  Seconds expert_wait = {};
};

struct RankSetting {
  const DeviceModel& device;
  const describe::HostFacts& host;
  UpdateLoop update = UpdateLoop::kFused;
  bool clips = false;  // the update takes the gradients' norm too
};

// What a rank that runs this stage alone takes (no pipeline). REQUIRES: the job is legal.
RankTime rank_time(const describe::Job& job, const describe::Layout& layout,
                   const workload::Stage& stage, const workload::Shard& shard,
                   const RankSetting& setting);

// One operator of a step with its time. The power controller sees a step, not a kernel: products
// are at burst rate, and what the limit adds is apart.
struct OperatorTime {
  workload::Operator op;
  double times = 0.0;    // a microbatch; of the update, a step
  OperatorCost cost;     // of one; products of a microbatch at burst rate
  double limited = 0.0;  // share of its compute and output that the power limit adds (limit_share)
  // What the limit adds: nothing where memory takes longer anyway.
  [[nodiscard]] constexpr Seconds limit() const {
    const Seconds busy = cost.compute + cost.output;
    const Seconds slowed = busy * (1.0 + limited);
    return slowed < cost.memory ? Seconds() : slowed - (busy < cost.memory ? cost.memory : busy);
  }
  [[nodiscard]] constexpr Seconds total() const { return (cost.total() + limit()) * times; }
};

// What the operators of a phase add up to.
struct PhaseWork {
  Seconds device;
  Seconds ends;  // of that, head and loss
  double kernels = 0.0;
  double products = 0.0;  // calls, those of weight gradients apart
};

// One microbatch of a stage.
struct StageWork {
  PhaseWork forward;
  PhaseWork recompute;
  PhaseWork backward;
};

// The two phases of a microbatch; nothing of the update.
RankTime microbatch_time(const describe::Job& job, const describe::Layout& layout,
                         const workload::Stage& stage, const workload::Shard& shard,
                         const RankSetting& setting, const StageWork& work);
// Once a step; nothing where the job does not train. `noted`: the operators it is the sum of.
PhaseTime update_time(const describe::Job& job, const describe::Layout& layout,
                      const workload::Stage& stage, const workload::Shard& shard,
                      const RankSetting& setting, std::vector<OperatorTime>* noted = nullptr);

// Adds to its like in the list, or to its end.
void add_alike(const OperatorTime& more, std::vector<OperatorTime>& list);

// Operators of one microbatch, in their order. What the limit adds goes by the products' share of
// all their time.
std::vector<OperatorTime> microbatch_times(std::span<const workload::Operator> operators,
                                           const DeviceModel& device);
// rank_time from the microbatch_times of the stage's operators, for those who need these as well.
RankTime rank_time(const describe::Job& job, const describe::Layout& layout,
                   const workload::Stage& stage, const workload::Shard& shard,
                   const RankSetting& setting, std::span<const OperatorTime> operators);

// What a pass through the expert layers of a stage waits for the host, which issues them one by
// one.
Seconds expert_wait(const describe::Job& job, const describe::Layout& layout,
                    const workload::Stage& stage, const workload::Shard& shard,
                    const describe::HostFacts& host);

// Does the host gather parameters unit by unit? FSDP2 and DeepSpeed do; XLA's program does it by
// itself, and Megatron's distributed optimizer keeps what it gathered.
bool gathers_units(const describe::Job& job, const describe::Layout& layout,
                   const workload::Shard& shard);

// Two clocks: when the host has issued everything so far, and when the device is done with it.
class RankClock {
 public:
  void run(const PhaseTime& phase) {
    const Seconds start = device_ < host_ ? host_ : device_;
    host_ += phase.host;
    const Seconds busy = start + phase.device;
    const Seconds issued = host_ + phase.tail;
    device_ = busy < issued ? issued : busy;
  }
  // The host waits for the device.
  void synchronise() { host_ = device_; }
  [[nodiscard]] Seconds now() const { return device_; }

 private:
  Seconds host_;
  Seconds device_;
};

// A whole step of `microbatches`, the host waiting for the device before it begins.
Seconds step_time(const RankTime& time, std::int64_t microbatches);

}  // namespace sextant::cost
