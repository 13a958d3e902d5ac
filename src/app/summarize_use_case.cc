#include "app/summarize.h"
#include "app/trace_parameters.h"
#include "app/use_cases.h"

namespace sextant::app {

UseCase summarize_use_case() {
  std::vector<Parameter> parameters = trace_parameters();
  parameters.push_back({.name = "out",
                        .kind = ParameterKind::kFileToWrite,
                        .value = "FILE.sxs",
                        .help = "where the summary goes",
                        .otherwise = "beside the profile; job.sxs of several",
                        .example = "rank3.sxs"});
  return {.name = "summarize",
          .summary = "Profiles as a small summary, to be joined with those of other ranks",
          .examples = {{{{"trace", "rank3.pt.trace.json.gz"}, {"out", "rank3.sxs"}}},
                       {{{"trace", "summaries/"}, {"out", "job.sxs"}}}},
          .parameters = std::move(parameters),
          .run =
              [](const Values& values, const Context& context, const Control& control) {
                return reply_of(summarize(
                    {.traces = trace_request(values), .out = values.one("out")}, context, control));
              },
          .stoppable = true};
}

}  // namespace sextant::app
