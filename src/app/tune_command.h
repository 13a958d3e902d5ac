// tune: what holds a job up and which changes are worth making, each judged before it is shown.
#pragma once

#include <string>
#include <vector>

#include "app/answered.h"
#include "app/context.h"
#include "app/job_request.h"
#include "app/trace_reading.h"
#include "app/tune_llm.h"
#include "app/tune_session.h"
#include "app/use_case.h"
#include "base/result.h"
#include "explain/tune_view.h"

namespace sextant::app {

// Words; "" where not given.
struct TuneRequest {
  // MODEL, CLUSTER, LAYOUT as it runs. Of a case, the cluster is the slice to go to.
  JobRequest job = {};
  std::vector<std::string> from = {};   // the user's own files, or one folder of an experiment
  std::string case_file = {};           // what a profiler reports of a confidential job
  TraceRequest traces = {};             // of a recorded run
  std::string device = {};              // of the run, where the profile does not say
  std::string pin = {};                 // "tp=8,recompute=none": keys that keep these values
  std::vector<std::string> ideas = {};  // changes of the user's own, to be judged too
  std::string among = {};               // a file of layouts, one a line: choose only from these
  std::string headroom = {};
  std::string top = {};  // rows of a table
  std::string kb_file = {};
  std::string session = {};  // the log's; "": one is named by its content
  bool without_kb = false;   // to see what each adds
  bool without_planner = false;
  bool without_profile = false;
  bool logs = true;
  LlmWords llm = {};
  bool verbose = false;
  GivenWords words = {};  // what was given, for the log
};
// Of the use case's parameters.
TuneRequest tune_request(const Values& values);

// No: there is no proposal, and no reason to keep the job as it is.
Result<Answered<explain::TuneAnswer>> tune(const TuneRequest& request, const Context& context,
                                           const Control& control);

struct TuneLogRequest {
  std::string kb_file = {};
  std::string session = {};  // "": the list of them
  bool replays = false;      // asks the judge again for every proposal of the log
};
// No: a verdict is another today.
Result<Answered<explain::TuneLogAnswer>> tune_log(const TuneLogRequest& request,
                                                  const Context& context, const Control& control);

}  // namespace sextant::app
