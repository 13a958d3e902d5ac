#include "app/check_command.h"
#include "app/job_parameters.h"
#include "app/use_cases.h"

namespace sextant::app {
namespace {

std::vector<Parameter> check_parameters() {
  Parameter cluster = cluster_parameter();
  cluster.help = "the cluster, or the device alone";
  cluster.required = false;
  Parameter workload = workload_parameter();
  return {{.name = "file",
           .kind = ParameterKind::kFileToRead,
           .value = "FILE",
           .help = "launch scripts, YAML, JSON, TOML, Python recipes, logs",
           .example = "train.sh",
           .required = true,
           .many = true,
           .positional = true},
          {.name = "model",
           .kind = ParameterKind::kModel,
           .value = "MODEL",
           .help = "the model, where the files do not say",
           .example = "llama-3.1-8b"},
          cluster,
          {.name = "seq",
           .value = "LENGTH",
           .help = "tokens a sequence, where the files do not say",
           .example = "4096"},
          {.name = "layout",
           .kind = ParameterKind::kLayout,
           .value = "LAYOUT",
           .help = "keys of the layout, where the files do not say",
           .example = "tp=8,mbs=1"},
          {.name = "args",
           .value = "ARGUMENTS",
           .help = "what a script is started with, which is never run",
           .example = "dsw 7B 1 8"},
          {.name = "set",
           .value = "NAME=VALUE",
           .help = "a variable that a script is started with",
           .example = "TP=4",
           .many = true},
          {.name = "vocab",
           .kind = ParameterKind::kCount,
           .value = "ENTRIES",
           .help = "entries of the vocabulary, where the files do not say",
           .example = "50257"},
          {.name = "gbs",
           .kind = ParameterKind::kCount,
           .value = "SEQUENCES",
           .help = "sequences a step, where the files do not say",
           .example = "256"},
          workload,
          {.name = "to-row",
           .kind = ParameterKind::kFlag,
           .help = "a log's job and measured step as CSV that validate reads"}};
}

}  // namespace

UseCase check_use_case() {
  return {
      .name = "check",
      .summary = "A job's own files: what they say, rules broken, what is open, the measured step",
      .examples = {{{{"file", "train.sh"}}},
                   {{{"file", "train.sh"}, {"on", "64xh100-sxm"}, {"output", "github"}}},
                   {.given = {{"file", "slurm-4711.out"}, {"on", "h100-sxm"}, {"to-row", ""}},
                    .into = "runs.csv"}},
      .parameters = check_parameters(),
      .run =
          [](const Values& values, const Context& context, const Control&) {
            FileRequest files = file_request(values.all("file"), values.one("model"), values);
            files.layout = values.one("layout");
            files.variables = values.all("set");
            files.vocabulary = values.one("vocab");
            if (values.has("args")) {
              files.arguments = values.one("args");
            }
            return reply_of(
                check({.files = std::move(files), .to_row = values.has("to-row")}, context));
          },
      .finds = true};
}

}  // namespace sextant::app
