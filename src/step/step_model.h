// What a step's terms are told apart by: the machine they depend on beside the job, and the axes
// that communication is for.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.h"
#include "describe/layout/layout.h"
#include "describe/words.h"
#include "machine/step_model.h"
#include "workload/collective.h"

namespace sextant::step {

using machine::ExpertLinks;
using machine::StepModel;
using machine::Torus;

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
