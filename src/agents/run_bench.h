// The judge of a run whose model nobody described: settings are judged by its diagnosis alone.
#pragma once

#include "agents/tune_job.h"

namespace sextant::agents {

// A change of the layout cannot be told: the model is missing.
verify::Verdict judged_by_run(const verify::Proposal& proposal, const JobCase& asked);

}  // namespace sextant::agents
