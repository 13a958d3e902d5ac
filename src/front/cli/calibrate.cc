#include <string_view>

#include "app/calibrate_command.h"
#include "front/cli/command.h"

namespace sextant::front {
namespace {

constexpr std::string_view kWriteKernels =
    "sextant calibrate kernels.csv --device h100-sxm --write mine/kernels/h100-sxm.toml";

}  // namespace

Command calibrate_command() {
  return {
      .name = "calibrate",
      .summary = "Facts of your own device, links, network or training from timings of your own",
      .examples = {"sextant calibrate kernels.csv --device h100-sxm", std::string(kWriteKernels),
                   "sextant calibrate nccl.txt --on 2xdgx-h100",
                   "sextant calibrate nccl.txt --on 2xdgx-h100 --write mine",
                   "sextant calibrate collectives.csv --write mine",
                   "sextant calibrate runs.csv --write mine",
                   "sextant validate h100-sxm.csv --data mine"},
      .positionals = {{.name = "FILE",
                       .help = "timed kernels (scripts/measure/kernel_table.py makes them), "
                               "output of nccl-tests, or tables of collectives or of training "
                               "runs; - is standard input",
                       .required = true,
                       .many = true,
                       .complete = "files"}},
      .options = {{"--device", "NAME", "kernels: whose timings they are (required)", "devices"},
                  {"--on", "CLUSTER", "nccl-tests: where it ran (required)", "devices"},
                  {"--write", "PATH",
                   "write the facts: kernels to a file (TOML), everything else to a folder",
                   "files"}},
      .run = [](const Arguments& arguments, const app::Context& context) {
        return app::calibrate({.tables = arguments.all("FILE"),
                               .device = arguments.one("--device"),
                               .write_file = arguments.one("--write"),
                               .cluster = arguments.one("--on")},
                              context);
      }};
}

}  // namespace sextant::front
