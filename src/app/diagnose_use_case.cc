#include "app/diagnose.h"
#include "app/use_cases.h"

namespace sextant::app {
namespace {

std::vector<Parameter> diagnose_parameters() {
  return {{.name = "trace",
           .kind = ParameterKind::kFileToRead,
           .value = "TRACE",
           .help = "profiles and summaries: files, patterns in quotes, folders; RANK=FILE says a "
                   "rank",
           .example = "'logs/rank*.json.gz'",
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
           .help = "ranks to show",
           .otherwise = "all",
           .example = "0,3-5"},
          {.name = "device",
           .kind = ParameterKind::kDevice,
           .value = "DEVICE",
           .help = "whose peaks utilisation is of",
           .otherwise = "the one that the profile names",
           .example = "h100-sxm"},
          {.name = "names",
           .kind = ParameterKind::kFileToRead,
           .value = "FILE",
           .help = "table of kernels' names that goes before ours (pattern,says,value,source)",
           .example = "ours.csv"},
          {.name = "top",
           .kind = ParameterKind::kCount,
           .value = "COUNT",
           .help = "rows of each table",
           .otherwise = "what fits a screen; 100 in JSON",
           .example = "10"},
          {.name = "verbose",
           .kind = ParameterKind::kFlag,
           .help = "longer tables, every step, all that was not read"}};
}

}  // namespace

UseCase diagnose_use_case() {
  return {.name = "diagnose",
          .summary =
              "What profiles of a job show: where a step's time goes, on which rank, and why "
              "devices wait",
          .examples = {{{{"trace", "rank0.pt.trace.json.gz"}}},
                       {{{"trace", "'logs/rank*.json.gz'"}, {"steps", "3-7"}}},
                       {{{"trace", "logs/"}, {"output", "json"}}}},
          .parameters = diagnose_parameters(),
          .run =
              [](const Values& values, const Context& context, const Control& control) {
                return reply_of(diagnose({.traces = {.traces = values.all("trace"),
                                                     .steps = values.one("steps"),
                                                     .ranks = values.one("ranks"),
                                                     .names = values.one("names")},
                                          .device = values.one("device"),
                                          .top = values.one("top"),
                                          .verbose = values.has("verbose")},
                                         context, control));
              },
          .stoppable = true};
}

}  // namespace sextant::app
