// diff: two runs, or two ranks, side by side.
#pragma once

#include <string>

#include "app/answered.h"
#include "app/context.h"
#include "app/trace_reading.h"
#include "app/use_case.h"
#include "base/result.h"
#include "explain/diff_view.h"

namespace sextant::app {

struct DiffRequest {
  TraceRequest a;
  TraceRequest b;
  std::string device = {};       // what every rank's device is, of both; "": what profiles name
  std::string framework = {};    // whose settings advice names first; "": the setting
  std::string fail_on = {};      // "slower>5%,input-bound": No where one holds
  std::string report_file = {};  // all of it as a page
  std::string top = {};          // rows of each table
  bool verbose = false;
};

// An Error where one of them has no whole step.
Result<Answered<explain::DiffAnswer>> diff(const DiffRequest& request, const Context& context,
                                           const Control& control);

}  // namespace sextant::app
