// compare LOG ROW-ID: why this run is slower than a published one.
#pragma once

#include <string>
#include <vector>

#include "app/answered.h"
#include "app/context.h"
#include "app/job_files.h"
#include "base/result.h"
#include "explain/run_comparison.h"

namespace sextant::app {

struct CompareRunsRequest {
  FileRequest run;                  // a log, and what it leaves open
  std::string row;                  // the id of a row of …
  std::vector<std::string> tables;  // … these tables of runs, files or folders
};

// An Error where the log or the row leaves open what a prediction needs.
Result<Answered<explain::RunComparison>> compare_runs(const CompareRunsRequest& request,
                                                      const Context& context);

}  // namespace sextant::app
