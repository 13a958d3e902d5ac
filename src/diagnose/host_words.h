// One sentence for each rule about the host, with the figures of a run.
#pragma once

#include <string>
#include <string_view>

#include "base/units.h"
#include "diagnose/host_losses.h"

namespace sextant::diagnose {

// Of a mean step of one rank.
struct HostFigures {
  Seconds lost;
  double share = 0.0;   // of the step
  double stalls = 0.0;  // how many
  Seconds stall;        // how long they took, all together
  Bytes copied;
  std::string what;
  std::string_view waits = "the device";  // whose time it is; of a rank of CPUs "the rank"
  Status status = Status::kInferred;
  double launches = 0.0;
  Seconds in_update;  // of what is lost, within an optimizer's step
  Seconds kernel;     // mean of the work on the device
  Seconds recorded;   // more than is lost: what recording operators costs
  Seconds tried;      // of what is lost, the device runs kernels that a compiler only times
  Seconds step;
};

std::string host_sentence(HostRule rule, const HostFigures& figures);

}  // namespace sextant::diagnose
