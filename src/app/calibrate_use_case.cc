#include "app/calibrate_command.h"
#include "app/job_parameters.h"
#include "app/use_cases.h"

namespace sextant::app {
namespace {

std::vector<Parameter> calibrate_parameters() {
  Parameter cluster = cluster_parameter();
  cluster.help = "nccl-tests: where it ran (required)";
  cluster.example = "2xdgx-h100";
  cluster.required = false;
  return {{.name = "file",
           .kind = ParameterKind::kFileToRead,
           .value = "FILE",
           .help = "timed kernels (scripts/measure/kernel_table.py makes them), output of "
                   "nccl-tests, or tables of collectives or of training runs; - is standard input",
           .example = "kernels.csv",
           .many = true,
           .positional = true},
          {.name = "from-trace",
           .kind = ParameterKind::kFileToRead,
           .value = "TRACE",
           .help = "instead of FILE: profiles of training with shapes, as diagnose takes them",
           .example = "rank0.pt.trace.json.gz",
           .many = true},
          {.name = "device",
           .kind = ParameterKind::kDevice,
           .value = "NAME",
           .help = "kernels: whose timings they are (required)",
           .example = "h100-sxm"},
          cluster,
          {.name = "write",
           .kind = ParameterKind::kFolderToWrite,
           .value = "PATH",
           .help = "write the facts: kernels to a file (TOML), everything else to a folder",
           .example = "mine"}};
}

}  // namespace

UseCase calibrate_use_case() {
  return {
      .name = "calibrate",
      .summary = "Facts of your own device, links, network or training from timings of your own",
      .examples = {{{{"file", "kernels.csv"}, {"device", "h100-sxm"}}},
                   {{{"file", "kernels.csv"},
                     {"device", "h100-sxm"},
                     {"write", "mine/kernels/h100-sxm.toml"}}},
                   {{{"file", "nccl.txt"}, {"on", "2xdgx-h100"}}},
                   {{{"file", "nccl.txt"}, {"on", "2xdgx-h100"}, {"write", "mine"}}},
                   {{{"file", "collectives.csv"}, {"write", "mine"}}},
                   {{{"file", "runs.csv"}, {"write", "mine"}}},
                   {{{"from-trace", "rank0.pt.trace.json.gz"},
                     {"write", "mine/kernels/h100-sxm.toml"}}},
                   {.given = {{"table", "h100-sxm.csv"}, {"data", "mine"}},
                    .use_case = "validate"}},
      .parameters = calibrate_parameters(),
      .run = [](const Values& values, const Context& context, const Control& control) {
        return reply_of(calibrate({.tables = values.all("file"),
                                   .device = values.one("device"),
                                   .write_file = values.one("write"),
                                   .cluster = values.one("on"),
                                   .traces = values.all("from-trace")},
                                  context, control));
      }};
}

}  // namespace sextant::app
