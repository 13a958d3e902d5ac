#include "app/use_cases.h"
#include "app/validate_command.h"

namespace sextant::app {
namespace {

std::vector<Parameter> validate_parameters() {
  return {{.name = "table",
           .kind = ParameterKind::kFileToRead,
           .value = "TABLE",
           .help = "tables of measurements, or folders of them",
           .example = "truth/runs",
           .required = true,
           .many = true,
           .positional = true},
          {.name = "rows",
           .kind = ParameterKind::kFileToWrite,
           .value = "FILE",
           .help = "write every row as CSV",
           .example = "rows.csv"},
          {.name = "ledger",
           .kind = ParameterKind::kFileToWrite,
           .value = "FILE",
           .help = "write the accuracy ledger (Markdown)",
           .example = "docs/validation.md"},
          {.name = "plots",
           .kind = ParameterKind::kFolderToWrite,
           .value = "FOLDER",
           .help = "write plots (SVG), and link them from the ledger",
           .example = "plots"},
          {.name = "check",
           .kind = ParameterKind::kFileToRead,
           .value = "FILE",
           .help = "the answer is no if this ledger, or a plot it links, is not current",
           .example = "docs/validation.md"}};
}

}  // namespace

UseCase validate_use_case() {
  return {
      .name = "validate",
      .summary = "How far predictions are from measurements, by source",
      .examples = {{{{"table", "truth/runs"}}},
                   {{{"table", "runs.csv"}, {"output", "json"}}},
                   {{{"table", "truth"}, {"rows", "rows.csv"}, {"ledger", "docs/validation.md"}}},
                   {{{"table", "truth"}, {"plots", "plots"}}}},
      .parameters = validate_parameters(),
      .run = [](const Values& values, const Context& context, const Control&) {
        return reply_of(validate_tables({.tables = values.all("table"),
                                         .rows_file = values.one("rows"),
                                         .ledger_file = values.one("ledger"),
                                         .check_file = values.one("check"),
                                         .plots_folder = values.one("plots")},
                                        context));
      }};
}

}  // namespace sextant::app
