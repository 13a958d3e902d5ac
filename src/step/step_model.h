// Everything a step's time depends on beside the job: device, host, links and network, and what a
// training loop does beside them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "cost/comm/comm_model.h"
#include "cost/comm/torus_time.h"
#include "cost/compute/device_model.h"
#include "describe/host_facts.h"
#include "describe/step_facts.h"
#include "describe/words.h"
#include "workload/collective.h"

namespace sextant::step {

// Chips joined to their neighbours only (TPU): one slice.
struct Torus {
  std::array<std::int64_t, 3> shape{1, 1, 1};
  std::array<bool, 3> rings{};  // which axes close
  cost::TorusLinks links;
};

struct StepModel {
  cost::DeviceModel device;
  describe::HostFacts host;
  cost::CommModel comm;
  std::int64_t domain_size = 1;  // devices that scale-up links join
  std::optional<Torus> torus;    // instead of scale-up links
  describe::StepFacts facts;
};

// What communication is for.
enum class Axis : std::uint8_t { kTensor, kContext, kExpert, kPipeline, kData };
inline constexpr std::size_t kAxes = 5;
inline constexpr std::array<describe::Word<Axis>, kAxes> kAxisWords{{{Axis::kTensor, "tp"},
                                                                     {Axis::kContext, "cp"},
                                                                     {Axis::kExpert, "ep"},
                                                                     {Axis::kPipeline, "pp"},
                                                                     {Axis::kData, "dp"}}};
Axis axis_of(workload::GroupKind group);

// A time for each axis.
struct AxisTimes {
  std::array<Seconds, kAxes> times{};
  Seconds& operator[](Axis axis) { return times[static_cast<std::size_t>(axis)]; }
  const Seconds& operator[](Axis axis) const { return times[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] Seconds total() const;
  AxisTimes& operator+=(const AxisTimes& other);
  AxisTimes operator*(double factor) const;
};

}  // namespace sextant::step
