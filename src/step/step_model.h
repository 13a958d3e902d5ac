// Everything a step's time depends on beside the job: device, host, links and network, and what a
// training loop does beside them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "cost/comm/comm_model.h"
#include "cost/comm/expert_exchange.h"
#include "cost/comm/torus_time.h"
#include "cost/compute/device_model.h"
#include "describe/host_facts.h"
#include "describe/layout/layout.h"
#include "describe/step_facts.h"
#include "describe/words.h"
#include "workload/collective.h"

namespace sextant::step {

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

// How many microbatches gradients and parameters may hide behind. Chunks of an interleaved
// pipeline take turns of pp microbatches: the gradients of one are reduced during the last turns of
// those below it, its parameters gathered during the first turns of those below.
double hiding_microbatches(const describe::Layout& layout, std::int64_t microbatches);

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
  [[nodiscard]] constexpr Seconds total() const {
    Seconds sum;
    for (const Seconds time : times) {
      sum += time;
    }
    return sum;
  }
  constexpr AxisTimes& operator+=(const AxisTimes& other) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      times[i] += other.times[i];
    }
    return *this;
  }
  constexpr AxisTimes operator*(double factor) const {
    AxisTimes product;
    for (std::size_t i = 0; i < times.size(); ++i) {
      product.times[i] = times[i] * factor;
    }
    return product;
  }
};

}  // namespace sextant::step
