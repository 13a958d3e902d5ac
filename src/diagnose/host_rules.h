// Rules about the host of one rank: what it was at while its device had nothing to do
// (host_losses.h), in words. data/diagnose/host.toml says what each means and what to do.
#pragma once

#include "diagnose/diagnosis.h"
#include "diagnose/scene.h"

namespace sextant::diagnose {

// Of several ranks each rule speaks of the one that loses most, and names those that lose at least
// half as much, unless all do. Nothing is said of what costs less than a hundredth of the step.
Findings host_findings(const Scene& scene);

}  // namespace sextant::diagnose
