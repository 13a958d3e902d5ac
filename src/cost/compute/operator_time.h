// How long one operator takes on one device, alone, by a roofline with the losses that were
// measured.
//
// Products: waves of output tiles over the compute units, or cut along k where that fills them
// better; the output's writing is partly exposed; long kernels run at the power limit. Attention:
// pairs of queries and keys, the softmax as so many columns more, the longest tile as a tail.
// Everything else streams through memory, its arithmetic added. Formulas and constants:
// docs/models/compute.md.
//
// Pure, without allocation: this is also the form a search uses.
//
// Left out: two kernels at once, caches kept warm by the kernel before, clocks that differ between
// devices of one kind, rows of uneven experts.
#pragma once

#include "base/units.h"
#include "cost/compute/device_model.h"
#include "workload/operator.h"

namespace sextant::cost {

struct OperatorCost {
  Seconds launch;   // from one kernel to the next
  Seconds compute;  // matrix units busy, padding and power included
  Seconds output;   // writing results that no arithmetic hides
  Seconds memory;   // all traffic
  Seconds vector;   // element by element arithmetic beside the traffic
  Seconds issue;    // what the host takes to issue it from eager PyTorch; not in total()

  // On the device: memory is hidden by arithmetic or the other way round, the rest adds up.
  [[nodiscard]] constexpr Seconds total() const {
    const Seconds busy = compute + output;
    return launch + (busy < memory ? memory : busy) + vector;
  }
  // Called again and again with nothing else to do: the host may be the slower one.
  [[nodiscard]] constexpr Seconds alone() const {
    const Seconds device = total();
    return device < issue ? issue : device;
  }
};

constexpr bool is_product(const workload::Operator& op) {
  return op.kind == workload::OpKind::kGemm || op.kind == workload::OpKind::kGroupedGemm;
}

// What a step at the power limit adds to the operator's compute, as a share: matrix units draw
// most.
inline double limit_share(const workload::Operator& op, const DeviceModel& device) {
  const double share = is_product(op)                            ? 1.0
                       : op.kind == workload::OpKind::kAttention ? device.attention.limited
                                                                 : 0.0;
  return share > 0.0 ? device.rate(op.dtype).slowdown * share : 0.0;
}

// One of the `op.count` operators.
OperatorCost operator_time(const workload::Operator& op, const DeviceModel& device);

// A kernel that streams `bytes` through memory and does something to `elements` of them.
struct StreamWork {
  Bytes bytes;
  double elements = 0.0;
  double columns = 0.0;  // of a row; only norms ask
  double kernels = 1.0;
  double indexed = 0.0;  // elements
  VectorWork vector = VectorWork::kMove;
};
OperatorCost stream_time(const StreamWork& work, const DeviceModel& device);

// Between host and device, either way. Pageable: through a buffer that the driver pins.
OperatorCost host_copy_time(Bytes bytes, bool pinned, const DeviceModel& device);

}  // namespace sextant::cost
