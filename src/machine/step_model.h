// The machine of a step as models see it: device, host, links and network, and what a training loop
// does beside them. Values only: machine.h makes them of a job and the data files.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "cost/comm/comm_model.h"
#include "cost/comm/expert_exchange.h"
#include "cost/comm/torus_time.h"
#include "cost/compute/device_model.h"
#include "describe/cluster/device.h"
#include "describe/draw_facts.h"
#include "describe/host_facts.h"
#include "describe/step_facts.h"

namespace sextant::machine {

// Chips joined to their neighbours only (TPU): one slice.
struct Torus {
  std::array<cost::TorusAxis, 3> axes;
  cost::TorusLinks links;
};

// A library that sends tokens to their experts instead of plain all-to-alls (DeepEP, HybridEP).
struct ExpertLinks {
  cost::ExpertModel model;
  BytesPerSecond scale_up;  // of a device, one way
  std::int64_t sms = 1;     // given to its kernels
};

struct StepModel {
  cost::DeviceModel device;
  describe::HostFacts host;
  cost::CommModel comm;
  std::int64_t domain_size = 1;        // devices that scale-up links join
  std::optional<Torus> torus;          // instead of scale-up links
  std::optional<ExpertLinks> experts;  // nothing: its kernels were not measured on the device
  describe::StepFacts facts;
};

// What a device draws (data/power.toml).
struct PowerDraw {
  Watts computing;
  Watts waiting;
  // A second of computing is worth so many more of waiting than it lasts: what a search for the
  // least energy adds to a step.
  [[nodiscard]] double computing_weight() const { return (computing - waiting) / waiting; }
};

inline PowerDraw power_draw(const describe::Device& device, const describe::DrawFacts& facts) {
  return {device.power_limit.value * facts.computing.value,
          device.power_limit.value * facts.waiting.value};
}

}  // namespace sextant::machine
