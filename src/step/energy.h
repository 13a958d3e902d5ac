// What a step draws: each device its power while computing, and less while it waits.
//
//   energy of a step = devices · (computing · P_computing + (step − computing) · P_waiting)
//
// with `computing` the mean of all devices (StepTerms). Facts: data/power.toml.
#pragma once

#include "machine/step_model.h"
#include "step/estimate.h"

namespace sextant::step {

// Of a device, the mean of all.
inline Joules device_energy(const StepTerms& step, const machine::PowerDraw& draw) {
  return draw.computing * step.computing + draw.waiting * (step.step - step.computing);
}

}  // namespace sextant::step
