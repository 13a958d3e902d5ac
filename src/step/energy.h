// What a step draws: each device its power while computing, and less while it waits.
//
//   energy of a step = devices · (computing · P_computing + (step − computing) · P_waiting)
//
// with `computing` the mean of all devices (StepTerms). Facts: data/power.toml.
#pragma once

#include <cstdint>

#include "describe/cluster/device.h"
#include "describe/draw_facts.h"
#include "step/estimate.h"

namespace sextant::step {

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

// Of a device, the mean of all.
inline Joules device_energy(const StepTerms& step, const PowerDraw& draw) {
  return draw.computing * step.computing + draw.waiting * (step.step - step.computing);
}

}  // namespace sextant::step
