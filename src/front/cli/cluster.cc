#include "app/describe_commands.h"
#include "front/cli/command.h"

namespace sextant::front {

Command cluster_command() {
  return {
      .name = "cluster",
      .summary = "What is this machine: peaks, memory and links, each with its source",
      .examples = {"sextant cluster 64xh100-sxm", "sextant cluster 2048xa100-sxm-80g@ib-200",
                   "sextant cluster v5p-512", "sextant cluster cluster.toml --json",
                   "sextant cluster --list"},
      .positionals = {{.name = "CLUSTER",
                       .help =
                           "COUNTxDEVICE[@FABRIC], COUNTxSYSTEM, a TPU slice, or a cluster.toml",
                       .required = false,
                       .complete = "devices"}},
      .options = {{"--list", "", "all devices, systems and fabrics", ""}},
      .run = [](const Arguments& arguments, const app::Context& context) {
        if (arguments.has("--list")) {
          return app::list_hardware(context);
        }
        if (!arguments.has("CLUSTER")) {
          return Result<app::Output>(
              invalid("CLUSTER is missing", "sextant cluster",
                      "COUNTxDEVICE such as 64xh100-sxm (see --list), or a cluster.toml"));
        }
        return app::show_cluster(arguments.one("CLUSTER"), context);
      }};
}

}  // namespace sextant::front
