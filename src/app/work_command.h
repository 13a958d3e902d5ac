// explain work: what a step computes, operator by operator.
#pragma once

#include "app/context.h"
#include "app/job_request.h"
#include "base/result.h"

namespace sextant::app {

Result<Output> explain_work(const JobRequest& request, const Context& context);

}  // namespace sextant::app
