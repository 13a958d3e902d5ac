// validate: how far predictions are from measurements.
#pragma once

#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"

namespace sextant::app {

struct ValidateRequest {
  std::vector<std::string> tables;  // files and folders
  std::string rows_file;            // every row as CSV; "" = not written
  std::string ledger_file;          // the ledger as Markdown; "" = not written
  std::string check_file;           // compare the ledger with this file; exit code 1 if it differs
  std::string plots_folder = {};    // plots as SVG, linked from the ledger; "" = not written
};

Result<Output> validate_tables(const ValidateRequest& request, const Context& context);

}  // namespace sextant::app
