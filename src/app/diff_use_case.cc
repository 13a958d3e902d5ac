#include "app/diff.h"
#include "app/trace_parameters.h"
#include "app/use_cases.h"

namespace sextant::app {
namespace {

Parameter run_parameter(std::string_view name, std::string_view value, std::string_view help) {
  return {.name = name,
          .kind = ParameterKind::kFileToRead,
          .value = value,
          .help = help,
          .example = "logs/",
          .required = true,
          .positional = true};
}

std::vector<Parameter> diff_parameters() {
  std::vector<Parameter> all{
      run_parameter("a", "A", "the first run: a profile, summary, pattern in quotes or folder"),
      run_parameter("b", "B", "the second, which is compared with it"),
      {.name = "b-ranks",
       .value = "LIST",
       .help = "ranks to take of B, where these are others than of A",
       .otherwise = "as of A",
       .example = "6"}};
  for (const Parameter& parameter : trace_parameters()) {
    if (parameter.name != "trace") {
      all.push_back(parameter);
    }
  }
  const std::vector<Parameter> own{
      judged_device_parameter(),
      advised_framework_parameter(),
      {.name = "fail-on",
       .value = "CONDITIONS",
       .help = "answer no (exit 1) where one holds: slower>SHARE, or RULE that is found in B and "
               "not in A, joined by commas",
       .example = "slower>5%"},
      {.name = "report",
       .kind = ParameterKind::kFileToWrite,
       .value = "FILE",
       .help = "write all of it as one HTML file that needs no other",
       .example = "diff.html"},
      {.name = "top",
       .kind = ParameterKind::kCount,
       .value = "COUNT",
       .help = "rows of each table",
       .otherwise = "what fits a screen; 100 in JSON",
       .example = "10"},
      {.name = "verbose",
       .kind = ParameterKind::kFlag,
       .help = "longer tables, and those of operators, kernels and kinds of work"}};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

}  // namespace

UseCase diff_use_case() {
  return {.name = "diff",
          .summary =
              "Two runs or ranks side by side: what got slower, faster, new, gone, and how much of "
              "the change that is",
          .examples = {{{{"a", "before/"}, {"b", "after/"}}},
                       {{{"a", "before.sxs"}, {"b", "after.sxs"}, {"fail-on", "slower>5%"}}},
                       {{{"a", "job.sxs"}, {"b", "job.sxs"}, {"ranks", "0"}, {"b-ranks", "6"}}}},
          .parameters = diff_parameters(),
          .run =
              [](const Values& values, const Context& context, const Control& control) {
                TraceRequest a = trace_request(values);
                a.traces = {values.one("a")};
                TraceRequest b = a;
                b.traces = {values.one("b")};
                b.ranks = values.has("b-ranks") ? values.one("b-ranks") : b.ranks;
                return reply_of(diff({.a = std::move(a),
                                      .b = std::move(b),
                                      .device = values.one("device"),
                                      .framework = values.one("framework"),
                                      .fail_on = values.one("fail-on"),
                                      .report_file = values.one("report"),
                                      .top = values.one("top"),
                                      .verbose = values.has("verbose")},
                                     context, control));
              },
          .stoppable = true};
}

}  // namespace sextant::app
