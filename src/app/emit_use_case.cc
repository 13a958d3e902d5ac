#include "app/emit_command.h"
#include "app/emit_parameters.h"
#include "app/job_parameters.h"
#include "app/use_cases.h"
#include "emit/dialects.h"

namespace sextant::app {
namespace {

bool has_no_files(std::string_view framework) {
  const auto known = describe::parse_word<describe::Framework>(describe::kFrameworkWords, framework,
                                                               "framework", "‹framework›");
  return !known || !emit::own_dialect(*known);
}

std::vector<Parameter> emit_parameters() {
  std::vector<Parameter> parameters =
      job_parameters({dialect_parameter("to", "whose files", "the framework's"),
                      launcher_parameter(),
                      emit_folder_parameter(),
                      {.name = "diff",
                       .kind = ParameterKind::kFileToRead,
                       .value = "FILE",
                       .help = "the user's file: print the change as a patch",
                       .example = "train.sh"}});
  parameters.front().help = "catalogue name or config.json; with a file to change its own";
  for (Parameter& parameter : parameters) {
    parameter.required = false;  // with `diff` the file says them
    if (parameter.kind == ParameterKind::kFramework) {
      std::erase_if(parameter.words, has_no_files);
    }
  }
  return parameters;
}

}  // namespace

UseCase emit_use_case() {
  return {.name = "emit",
          .summary = "A job as the framework's own files, or as a patch to the user's",
          .examples = {{{{"model", "llama-3.1-70b"},
                         {"on", "64xh100-sxm"},
                         {"layout", "tp=8,pp=4"},
                         {"to", "megatron"}}},
                       {{{"model", "llama-3.1-8b"},
                         {"on", "8xh100-sxm"},
                         {"to", "torchtitan"},
                         {"out", "job/"}}},
                       {{{"diff", "train.sh"}, {"layout", "tp=4,pp=8"}}}},
          .parameters = emit_parameters(),
          .run = [](const Values& values, const Context& context, const Control&) {
            return reply_of(emit_files({.job = job_request(values),
                                        .dialect = values.one("to"),
                                        .launcher = values.one("launcher"),
                                        .folder = values.one("out"),
                                        .diff = values.one("diff")},
                                       context));
          }};
}

}  // namespace sextant::app
