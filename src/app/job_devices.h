// On what the job of some files runs: what the caller says of it, else what the files do.
#pragma once

#include <string>

#include "app/context.h"
#include "app/job_files.h"
#include "base/result.h"
#include "describe/layout/job.h"
#include "emit/settings.h"

namespace sextant::app {

// A cluster that the caller names ("64xh100-sxm") stands over every count of the files; a device
// alone leaves them as they are. Of a captured job that says no count, the cluster it was captured
// for. An Error where there is no such cluster.
Result<void> start_where_said(const std::string& cluster, const Context& context,
                              emit::Settings& settings);

// The job's cluster, of the caller's words or what was read; what is missing is open.
Result<void> read_cluster(const std::string& cluster, const Context& context, FileJob& out,
                          describe::Job& job);

}  // namespace sextant::app
