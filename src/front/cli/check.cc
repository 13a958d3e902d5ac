#include "app/check_command.h"
#include "front/cli/command.h"

namespace sextant::front {

Command check_command() {
  return {
      .name = "check",
      .summary = "A job's own files: what they say, rules broken, what is open, the measured step",
      .examples = {"sextant check train.sh", "sextant check train.sh --on 64xh100-sxm -o github",
                   "sextant check slurm-4711.out --on h100-sxm --to-row > runs.csv"},
      .positionals = {{.name = "FILE",
                       .help = "launch scripts, YAML, JSON, TOML, Python recipes, logs",
                       .many = true,
                       .complete = "files"}},
      .options = {{"--model", "MODEL", "the model, where the files do not say", "models"},
                  {"--on", "CLUSTER", "the cluster, or the device alone", "clusters"},
                  {"--seq", "LENGTH", "tokens a sequence, where the files do not say", ""},
                  {"--gbs", "SEQUENCES", "sequences a step, where the files do not say", ""},
                  {"--workload", "KIND", "pretrain, sft, lora[:RANK[:MODULE+…]] or forward",
                   "pretrain|sft|lora|forward"},
                  {"--to-row", "", "a log's job and measured step as CSV that validate reads", ""}},
      .run =
          [](const Arguments& arguments, const app::Context& context) {
            return app::show_check({.files = {.files = arguments.all("FILE"),
                                              .model = arguments.one("--model"),
                                              .cluster = arguments.one("--on"),
                                              .sequences = arguments.one("--seq"),
                                              .global_batch = arguments.one("--gbs"),
                                              .workload = arguments.one("--workload")},
                                    .to_row = arguments.has("--to-row")},
                                   context);
          },
      .has_findings = true};
}

}  // namespace sextant::front
