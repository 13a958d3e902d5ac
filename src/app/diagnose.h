// diagnose: what profiles of a job's ranks show, measured, and what is slow in it and why.
#pragma once

#include <string>
#include <variant>

#include "app/answered.h"
#include "app/context.h"
#include "app/job_request.h"
#include "app/trace_reading.h"
#include "app/use_case.h"
#include "base/result.h"
#include "explain/diagnose_view.h"
#include "explain/hta_view.h"

namespace sextant::app {

struct DiagnoseRequest {
  TraceRequest traces;             // as_hta: HTA's tables are the answer
  std::string device = {};         // what every rank's device is; "": what the profile names
  std::string framework = {};      // whose settings advice names first; "": the setting
  std::string fail_on = {};        // "input-bound,gain>5%": No where one holds
  std::string timeline_file = {};  // spans and evidence as a Chrome trace
  std::string report_file = {};    // all of it as a page
  std::string model_flops = {};    // of a step on one rank
  std::string top = {};            // rows of each table
  std::string cluster = {};        // where it was run; "": its fabric is not asked
  JobRequest job = {};             // what was run; without a model nothing is predicted
  bool verbose = false;
};

using Diagnosis = std::variant<explain::DiagnoseAnswer, explain::HtaAnswer>;

// Interrupted: of the files read until then.
Result<Answered<Diagnosis>> diagnose(const DiagnoseRequest& request, const Context& context,
                                     const Control& control);

}  // namespace sextant::app
