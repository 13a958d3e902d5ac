#include "app/trace_parameters.h"

#include "app/job_parameters.h"

namespace sextant::app {

std::vector<Parameter> trace_parameters() {
  return {{.name = "trace",
           .kind = ParameterKind::kFileToRead,
           .value = "TRACE",
           .help = "profiles and summaries: files, patterns in quotes, folders; RANK=FILE says a "
                   "rank",
           .example = "logs/",
           .required = true,
           .many = true,
           .positional = true},
          {.name = "steps",
           .value = "FIRST-LAST",
           .help = "steps to measure, as the profile counts them",
           .otherwise = "all but the first and the last of three or more",
           .example = "3-7"},
          {.name = "ranks",
           .value = "LIST",
           .help = "ranks to take",
           .otherwise = "all",
           .example = "0,3-5"},
          {.name = "names",
           .kind = ParameterKind::kFileToRead,
           .value = "FILE",
           .help = "table of kernels' names that goes before ours: pattern,says,value,source",
           .example = "ours.csv"}};
}

std::vector<Parameter> trace_parameters_of_others() {
  std::vector<Parameter> parameters = trace_parameters();
  parameters.front().required = false;
  parameters.front().positional = false;
  return parameters;
}

Parameter judged_device_parameter() {
  return {.name = "device",
          .kind = ParameterKind::kDevice,
          .value = "DEVICE",
          .help = "whose peaks utilisation is of",
          .otherwise = "the one that the profile names",
          .example = "h100-sxm"};
}

Parameter advised_framework_parameter() {
  return {.name = "framework",
          .kind = ParameterKind::kFramework,
          .value = "NAME",
          .help = "whose settings advice names first",
          .otherwise = "the setting; else PyTorch's, or XLA's",
          .words = main_spellings(describe::kFrameworkWords),
          .example = "megatron-core"};
}

TraceRequest trace_request(const Values& values) {
  return {.traces = values.all("trace"),
          .steps = values.one("steps"),
          .ranks = values.one("ranks"),
          .names = values.one("names")};
}

}  // namespace sextant::app
