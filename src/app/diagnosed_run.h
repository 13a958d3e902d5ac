// What was read of a run, measured and diagnosed: what every use case that judges runs starts from.
#pragma once

#include <string>

#include "app/context.h"
#include "app/job_request.h"
#include "app/trace_reading.h"
#include "base/result.h"
#include "explain/diagnose_view.h"

namespace sextant::app {

struct RunWords {
  std::string device = {};       // what every rank's device is; "": what the profile names
  std::string framework = {};    // whose settings advice names first; "": the setting
  std::string model_flops = {};  // of a step on one rank; "": MFU is not known
  std::string cluster = {};      // where it was run; "": where the job was
  // What was run: its predicted step is laid beside. Without a model: none is.
  JobRequest job = {};
};

// Takes what the answer holds out of `reading`, which read_traces gave with keeps_collectives.
Result<explain::DiagnoseAnswer> diagnosed_run(TraceReading& reading, const RunWords& words,
                                              const Context& context);

}  // namespace sextant::app
