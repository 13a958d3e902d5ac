// validate: how far predictions are from measurements.
#pragma once

#include <string>
#include <vector>

#include "app/answered.h"
#include "app/context.h"
#include "base/result.h"
#include "explain/validation_view.h"

namespace sextant::app {

struct ValidateRequest {
  std::vector<std::string> tables;  // files and folders
  std::string rows_file;            // every row as CSV; "" = not written
  std::string ledger_file;          // the ledger as Markdown; "" = not written
  std::string check_file;           // compare the ledger with this file
  std::string plots_folder = {};    // plots as SVG, linked from the ledger; "" = not written
};

// The outcome is no where the ledger that is checked is not current.
Result<Answered<explain::ValidationAnswer>> validate_tables(const ValidateRequest& request,
                                                            const Context& context);

}  // namespace sextant::app
