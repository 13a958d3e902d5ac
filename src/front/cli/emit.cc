#include "app/emit_command.h"
#include "front/cli/command.h"
#include "front/cli/job_options.h"

namespace sextant::front {

Command emit_command() {
  return {
      .name = "emit",
      .summary = "A job as the framework's own files, or as a patch to the user's",
      .examples = {"sextant emit llama-3.1-70b --on 64xh100-sxm --layout tp=8,pp=4 --to megatron",
                   "sextant emit llama-3.1-8b --on 8xh100-sxm --to torchtitan --out job/",
                   "sextant emit --diff train.sh --layout tp=4,pp=8"},
      .positionals = {{.name = "MODEL",
                       .help = "catalogue name or config.json; with --diff the file's own",
                       .required = false,
                       .complete = "models"}},
      .options = job_options(
          {{"--to", "DIALECT", "whose files (default: the framework's)",
            "megatron|bridge|torchtitan|torchtitan-toml|deepspeed|maxtext|accelerate|nanotron"},
           {"--launcher", "NAME", "torchrun (default) or slurm", "torchrun|slurm"},
           {"--out", "FOLDER", "write the files there instead of printing them", "files"},
           {"--diff", "FILE", "the user's file: print the change as a patch", "files"}}),
      .run = [](const Arguments& arguments, const app::Context& context) {
        return app::show_emit({.job = job_request(arguments),
                               .dialect = arguments.one("--to"),
                               .launcher = arguments.one("--launcher"),
                               .folder = arguments.one("--out"),
                               .diff = arguments.one("--diff")},
                              context);
      }};
}

}  // namespace sextant::front
