// The judge as a language model's proposals meet it: of a job, with what is pinned and what they
// are held to, everything noted.
#pragma once

#include <functional>

#include "agents/report.h"
#include "agents/tools.h"
#include "agents/tune_job.h"
#include "base/result.h"

namespace sextant::agents {

// `job`, `tools` and `report` must outlive it (of a case nothing). The report is the built-in
// reasoner's: where no layout runs yet, proposals are held to its first.
std::function<Judged(const verify::Proposal&)> job_judge(const JobCase& job, const Tools& tools,
                                                         const Report& report);

// The same of a case, whose judge is `judge`; where it cannot tell, that is the verdict.
std::function<Judged(const verify::Proposal&)> case_judge(
    std::function<Result<verify::Verdict>(const verify::Proposal&)> judge, const Tools& tools);

}  // namespace sextant::agents
