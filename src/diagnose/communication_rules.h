// Rules on communication that nothing hides: exposed-tp, exposed-dp, exposed-pp, exposed-ep,
// exposed-cp. Only transfer counts; who waits for late ranks is told by other rules. What hiding it
// frees is at most what it has the ranks to itself; in a pipeline each microbatch becomes shorter,
// and with it the waiting of stages for one another.
#pragma once

#include "diagnose/communication.h"
#include "diagnose/diagnosis.h"

namespace sextant::diagnose {

// Below that share of a step nothing is said: steps of a steady run vary by as much.
inline constexpr double kWorthNaming = 0.01;

Findings exposed_communication(const Scene& scene, const CommunicationTimes& times);

}  // namespace sextant::diagnose
