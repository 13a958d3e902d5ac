// explain work: what a step computes, operator by operator.
#pragma once

#include "app/answered.h"
#include "app/context.h"
#include "app/job_request.h"
#include "base/result.h"

namespace sextant::app {

Result<Explained> explain_work(const JobRequest& request, const Context& context);

}  // namespace sextant::app
