#include "app/calibrate_runs.h"

#include <filesystem>

#include <fmt/format.h>

#include "app/calibrate_files.h"
#include "calibrate/run_calibration.h"
#include "explain/run_calibration_view.h"

namespace sextant::app {
namespace {

constexpr std::string_view kStepFile = "step.toml";
constexpr std::string_view kStepSpreadFile = "step_spread.toml";

Result<std::vector<std::string>> write_step_files(const calibrate::RunCalibration& made,
                                                  const std::string& folder) {
  const std::filesystem::path path(folder);
  SEXTANT_CHECK_OK(write_with_folder((path / kStepFile).string(), made.step));
  SEXTANT_CHECK_OK(write_with_folder((path / kStepSpreadFile).string(), made.spread));
  return std::vector<std::string>{
      fmt::format("constants of the step model written to {}, intervals to {}",
                  (path / kStepFile).string(), (path / kStepSpreadFile).string()),
      fmt::format("use them: add --data {} to any command, or data = \"{}\" to the configuration "
                  "file",
                  folder, folder)};
}

}  // namespace

Result<Output> calibrate_runs(const calibrate::Inputs& files, const std::string& write_folder,
                              const Context& context) {
  if (write_folder.ends_with(".toml")) {
    return invalid("constants and intervals are written to a folder, this is a file",
                   "--write " + write_folder,
                   "--write FOLDER, which gets step.toml and step_spread.toml");
  }
  SEXTANT_TRY(const calibrate::RunCalibration made,
              calibrate::run_calibration(files, context.data));
  Output output;
  if (!write_folder.empty()) {
    SEXTANT_TRY(output.notes, write_step_files(made, write_folder));
  }
  output.text = explain::to_text(
      explain::RunCalibrationAnswer{{std::string(explain::tool_version()), made.inputs}, made},
      context.style);
  return output;
}

}  // namespace sextant::app
