// The words that describe a job, for every command that takes one: MODEL --on CLUSTER --layout ….
#pragma once

#include <vector>

#include "app/job_request.h"
#include "front/cli/command.h"

namespace sextant::front {

Positional model_positional();
// --on, --layout, --framework, --seq, --gbs, --workload, then `more`.
std::vector<Option> job_options(std::vector<Option> more = {});
app::JobRequest job_request(const Arguments& arguments);

}  // namespace sextant::front
