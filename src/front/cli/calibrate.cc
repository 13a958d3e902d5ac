#include "app/calibrate_command.h"
#include "front/cli/command.h"

namespace sextant::front {

Command calibrate_command() {
  return {.name = "calibrate",
          .summary = "Kernel facts of your device from a table of its own timings",
          .examples = {"sextant calibrate kernels.csv --device h100-sxm",
                       "sextant calibrate kernels.csv --device h100-sxm --write "
                       "mine/kernels/h100-sxm.toml",
                       "sextant validate h100-sxm.csv --data mine"},
          .positionals = {{.name = "TABLE",
                           .help = "timed kernels (scripts/measure/kernel_table.py makes them)",
                           .required = true,
                           .many = true,
                           .complete = "files"}},
          .options = {{"--device", "NAME", "whose timings they are (required)", "devices"},
                      {"--write", "FILE", "write the kernel facts (TOML)", "files"}},
          .run = [](const Arguments& arguments, const app::Context& context) {
            return app::calibrate({.tables = arguments.all("TABLE"),
                                   .device = arguments.one("--device"),
                                   .write_file = arguments.one("--write")},
                                  context);
          }};
}

}  // namespace sextant::front
