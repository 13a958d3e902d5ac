#include "app/compare_command.h"
#include "app/compare_runs.h"
#include "front/cli/command.h"
#include "front/cli/job_options.h"

namespace sextant::front {
namespace {

std::vector<Option> compare_options() {
  std::vector<Option> options = job_options(
      {{"--rows", "TABLE", "LOG ROW-ID: tables of runs, files or folders", "files"},
       {"--model", "MODEL", "LOG ROW-ID: the log's model, where it does not say", "models"}});
  for (Option& option : options) {
    option.many = option.name == "--on" || option.name == "--layout" || option.name == "--rows";
  }
  return options;
}

}  // namespace

Command compare_command() {
  return {.name = "compare",
          .summary = "Layouts or clusters side by side, or a run beside a published one, and why",
          .examples = {"sextant compare llama-3.1-8b --on 8xh100-sxm --layout tp=8 --layout tp=4",
                       "sextant compare llama-3.1-8b --on 8xh100-sxm --on 8xh200-sxm --layout tp=2",
                       "sextant compare slurm-4711.out MBR-012 --rows runs/ --on h100-sxm"},
          .positionals = {{.name = "MODEL",
                           .help = "catalogue name or config.json; a log where ROW-ID follows",
                           .complete = "models"},
                          {.name = "ROW-ID",
                           .help = "a row of --rows that the log is compared with",
                           .required = false,
                           .complete = ""}},
          .options = compare_options(),
          .run = [](const Arguments& arguments, const app::Context& context) {
            if (arguments.has("ROW-ID")) {
              return app::show_run_comparison({.run = {.files = {arguments.one("MODEL")},
                                                       .model = arguments.one("--model"),
                                                       .cluster = arguments.one("--on"),
                                                       .sequences = arguments.one("--seq"),
                                                       .global_batch = arguments.one("--gbs"),
                                                       .workload = arguments.one("--workload")},
                                               .row = arguments.one("ROW-ID"),
                                               .tables = arguments.all("--rows")},
                                              context);
            }
            return app::show_comparison({.job = job_request(arguments),
                                         .layouts = arguments.all("--layout"),
                                         .clusters = arguments.all("--on")},
                                        context);
          }};
}

}  // namespace sextant::front
