#include "app/estimate_command.h"
#include "front/cli/command.h"
#include "front/cli/job_options.h"

namespace sextant::front {

Command estimate_command() {
  return {.name = "estimate",
          .summary = "How long a rank computes a step (no communication or bubbles yet), how well",
          .examples = {"sextant estimate llama-3.1-8b --on 8xh200-sxm --layout tp=2,mbs=2",
                       "sextant estimate llama-3.1-8b --on 1xh200-sxm --sweep mbs --plot mbs.svg",
                       "sextant estimate llama-3.1-70b --on 64xh100-sxm --layout tp=8,pp=4 "
                       "--sweep seq=4096,8192,16384 --json"},
          .positionals = {model_positional()},
          .options = job_options(
              {{"--sweep", "FACTOR[=v,…]", "vary mbs, seq, tp, hidden or precision, hold the rest",
                "mbs|seq|tp|hidden|precision"},
               {"--plot", "FILE", "draw the sweep as .svg or .png", "files"}}),
          .run = [](const Arguments& arguments, const app::Context& context) {
            return app::show_estimate({.job = job_request(arguments),
                                       .sweep = arguments.one("--sweep"),
                                       .plot_file = arguments.one("--plot")},
                                      context);
          }};
}

}  // namespace sextant::front
