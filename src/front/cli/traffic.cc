#include "app/traffic_command.h"
#include "front/cli/command.h"
#include "front/cli/job_options.h"

namespace sextant::front {

Command traffic_command() {
  return {
      .name = "traffic",
      .summary = "What is sent: every message of a step, who to whom, and how far",
      .examples = {"sextant traffic llama-3.1-70b --on 64xh100-sxm --layout tp=8,pp=4,mbs=1",
                   "sextant traffic deepseek-v3 --on 256xh200-sxm --layout ep=32,pp=8 --json",
                   "sextant traffic llama-3.1-8b --on 64xh100-sxm --layout tp=4 --heat-map m.svg",
                   "sextant traffic llama-3.1-8b --on 64xh100-sxm --by node --matrix nodes.csv"},
      .positionals = {model_positional()},
      .options = job_options(
          {{"--matrix", "FILE", "write who sends how much to whom as CSV", "files"},
           {"--heat-map", "FILE", "draw that as .svg or .png", "files"},
           {"--pattern", "FILE", "draw a microbatch's bursts and work as .svg or .png", "files"},
           {"--by", "KIND", "rows of matrix and heat map: rank, node or rail", "rank|node|rail"}}),
      .run = [](const Arguments& arguments, const app::Context& context) {
        return app::show_traffic({.job = job_request(arguments),
                                  .matrix_file = arguments.one("--matrix"),
                                  .heat_map_file = arguments.one("--heat-map"),
                                  .pattern_file = arguments.one("--pattern"),
                                  .by = arguments.one("--by")},
                                 context);
      }};
}

}  // namespace sextant::front
