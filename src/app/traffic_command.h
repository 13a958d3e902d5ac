// traffic: every message of a step, who sends how much to whom, and when.
#pragma once

#include <string>

#include "app/answered.h"
#include "app/context.h"
#include "app/job_request.h"
#include "base/result.h"
#include "explain/traffic_view.h"

namespace sextant::app {

struct TrafficRequest {
  JobRequest job;
  std::string matrix_file;    // CSV of the communication matrix; "" = not written
  std::string heat_map_file;  // the same as SVG or PNG
  std::string pattern_file;   // on-off chart of a microbatch of the first stage, SVG or PNG
  std::string by;             // rank, node or rail: rows of matrix and heat map; "": rank
};

// The outcome is no where the layout is not legal.
Result<Answered<OrIllegal<explain::TrafficAnswer>>> traffic(const TrafficRequest& request,
                                                            const Context& context);

// The same as a tree of terms: every message by kind of group.
Result<Explained> explain_traffic(const JobRequest& request, const Context& context);

}  // namespace sextant::app
