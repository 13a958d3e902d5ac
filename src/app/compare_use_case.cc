// compare: layouts or clusters side by side, or a run beside a published one.
#include "app/compare_command.h"
#include "app/compare_runs.h"
#include "app/job_parameters.h"
#include "app/use_cases.h"

namespace sextant::app {
namespace {

constexpr std::string_view kLogModel = "log-model";

std::vector<Parameter> compare_parameters() {
  std::vector<Parameter> parameters =
      job_parameters({{.name = "rows",
                       .kind = ParameterKind::kFileToRead,
                       .value = "TABLE",
                       .help = "LOG ROW-ID: tables of runs, files or folders",
                       .example = "runs/",
                       .many = true},
                      {.name = kLogModel,
                       .kind = ParameterKind::kModel,
                       .value = "MODEL",
                       .help = "LOG ROW-ID: the log's model, where it does not say",
                       .example = "llama-3.1-8b"}});
  for (Parameter& parameter : parameters) {
    parameter.many = parameter.many || parameter.name == "on" || parameter.name == "layout";
  }
  parameters.front().help = "catalogue name or config.json; a log where ROW-ID follows";
  parameters.insert(parameters.begin() + 1,
                    {.name = "row-id",
                     .value = "ROW-ID",
                     .help = "a row of the tables that the log is compared with",
                     .example = "MBR-012",
                     .positional = true});
  return parameters;
}

Result<Reply> run_compare(const Values& values, const Context& context, const Control&) {
  if (values.has("row-id")) {
    FileRequest run = file_request({values.one("model")}, values.one(kLogModel), values);
    run.model_parameter = kLogModel;
    return reply_of(compare_runs(
        {.run = std::move(run), .row = values.one("row-id"), .tables = values.all("rows")},
        context));
  }
  return reply_of(compare(
      {.job = job_request(values), .layouts = values.all("layout"), .clusters = values.all("on")},
      context));
}

}  // namespace

UseCase compare_use_case() {
  return {.name = "compare",
          .summary = "Layouts or clusters side by side, or a run beside a published one, and why",
          .examples = {{{{"model", "llama-3.1-8b"},
                         {"on", "8xh100-sxm"},
                         {"layout", "tp=8"},
                         {"layout", "tp=4"}}},
                       {{{"model", "llama-3.1-8b"},
                         {"on", "8xh100-sxm"},
                         {"on", "8xh200-sxm"},
                         {"layout", "tp=2"}}},
                       {{{"model", "slurm-4711.out"},
                         {"row-id", "MBR-012"},
                         {"rows", "runs/"},
                         {"on", "h100-sxm"}}}},
          .parameters = compare_parameters(),
          .run = run_compare};
}

}  // namespace sextant::app
