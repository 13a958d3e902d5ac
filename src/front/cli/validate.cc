#include "app/validate_command.h"
#include "front/cli/command.h"

namespace sextant::front {

Command validate_command() {
  return {.name = "validate",
          .summary = "How far predictions are from measurements, by source",
          .examples = {"sextant validate truth/runs", "sextant validate runs.csv --json",
                       "sextant validate truth --rows rows.csv --ledger docs/validation.md",
                       "sextant validate truth --plots plots"},
          .positionals = {{.name = "TABLE",
                           .help = "tables of measurements, or folders of them",
                           .required = true,
                           .many = true,
                           .complete = "files"}},
          .options = {{"--rows", "FILE", "write every row as CSV", "files"},
                      {"--ledger", "FILE", "write the accuracy ledger (Markdown)", "files"},
                      {"--plots", "FOLDER", "write plots (SVG), and link them from the ledger",
                       "files"},
                      {"--check", "FILE",
                       "exit with 1 if this ledger, or a plot it links, is not current", "files"}},
          .run = [](const Arguments& arguments, const app::Context& context) {
            return app::validate_tables({.tables = arguments.all("TABLE"),
                                         .rows_file = arguments.one("--rows"),
                                         .ledger_file = arguments.one("--ledger"),
                                         .check_file = arguments.one("--check"),
                                         .plots_folder = arguments.one("--plots")},
                                        context);
          }};
}

}  // namespace sextant::front
