// diagnose: what profiles of a job's ranks show, measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/answered.h"
#include "app/context.h"
#include "app/trace_reading.h"
#include "app/use_case.h"
#include "base/result.h"
#include "explain/diagnose_view.h"

namespace sextant::app {

struct DiagnoseRequest {
  TraceRequest traces;
  std::string device = {};  // what every rank's device is; "": what the profile names
  std::string top = {};     // rows of each table
  bool verbose = false;
};

// Interrupted: of the files read until then.
Result<Answered<explain::DiagnoseAnswer>> diagnose(const DiagnoseRequest& request,
                                                   const Context& context, const Control& control);

}  // namespace sextant::app
