#include "app/calibrate_runs.h"

#include <filesystem>

#include <fmt/format.h>

#include "app/calibrate_notes.h"
#include "calibrate/run_calibration.h"

namespace sextant::app {
namespace {

constexpr std::string_view kStepFile = "step.toml";
constexpr std::string_view kStepSpreadFile = "step_spread.toml";
constexpr std::string_view kStepDifferenceFile = "step_difference.toml";

std::vector<Artifact> step_artifacts(const calibrate::RunCalibration& made,
                                     const std::string& folder) {
  const std::string step = (std::filesystem::path(folder) / kStepFile).string();
  const std::string spread = (std::filesystem::path(folder) / kStepSpreadFile).string();
  std::vector<Artifact> files{{.path = step, .bytes = made.step, .makes_folders = true},
                              {.path = spread, .bytes = made.spread, .makes_folders = true}};
  std::string intervals = spread;
  if (!made.difference.empty()) {
    const std::string path = (std::filesystem::path(folder) / kStepDifferenceFile).string();
    files.push_back({.path = path, .bytes = made.difference, .makes_folders = true});
    intervals += " and " + path;
  }
  files.back().note = {
      fmt::format("constants of the step model written to {}, intervals to {}", step, intervals),
      use_text(folder)};
  return files;
}

}  // namespace

Result<Answered<explain::RunCalibrationAnswer>> calibrate_runs(const calibrate::Inputs& files,
                                                               const std::string& write_folder,
                                                               const Context& context) {
  if (write_folder.ends_with(".toml")) {
    return invalid("constants and intervals are written to a folder, this is a file",
                   "‹write› " + write_folder,
                   "‹write› FOLDER, which gets step.toml, step_spread.toml and "
                   "step_difference.toml");
  }
  SEXTANT_TRY(const calibrate::RunCalibration made,
              calibrate::run_calibration(files, context.data));
  Answered<explain::RunCalibrationAnswer> answered{
      {{std::string(explain::tool_version()), made.inputs}, made}};
  if (!write_folder.empty()) {
    answered.artifacts = step_artifacts(made, write_folder);
  }
  return answered;
}

}  // namespace sextant::app
