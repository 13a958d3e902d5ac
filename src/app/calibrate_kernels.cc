#include "app/calibrate_kernels.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "app/calibrate_notes.h"
#include "base/text.h"
#include "calibrate/kernel_calibration.h"

namespace sextant::app {
namespace {

// How to use the file: by a folder of data that holds it as kernels/<device>.toml.
std::vector<std::string> use_notes(const std::string& file, const std::string& device) {
  const std::filesystem::path path(file);
  std::vector<std::string> notes{fmt::format("kernel facts of {} written to {}", device, file)};
  const bool in_place = path.parent_path().filename() == "kernels" &&
                        path.filename() == fmt::format("{}.toml", device);
  if (in_place) {
    const std::string folder = path.parent_path().parent_path().string();
    notes.push_back(use_text(folder));
  } else {
    notes.push_back(fmt::format(
        "to use them, name the file FOLDER/kernels/{}.toml and add ‹data› FOLDER to any command",
        device));
  }
  return notes;
}

}  // namespace

Result<Answered<explain::CalibrationAnswer>> calibrate_kernels(const calibrate::Inputs& tables,
                                                               const KernelOptions& options,
                                                               const Context& context) {
  SEXTANT_TRY(const calibrate::KernelCalibration made,
              calibrate::kernel_calibration(tables, options.device, context.data));
  Answered<explain::CalibrationAnswer> answered;
  if (!options.write_file.empty()) {
    answered.artifacts.push_back({.path = options.write_file,
                                  .bytes = made.file,
                                  .makes_folders = true,
                                  .note = use_notes(options.write_file, made.device)});
  }
  const std::set<std::string> devices = calibrate::devices_of(tables.rows);
  if (devices != std::set<std::string>{made.device}) {
    answered.notes.push_back(fmt::format(
        "validate reads these tables as of {}: it takes the device from the name of "
        "the file or its folder, here {} would say it",
        join(std::vector<std::string>(devices.begin(), devices.end()), ", "), made.device));
  }
  answered.answer = {{std::string(explain::tool_version()), made.inputs}, made};
  return answered;
}

}  // namespace sextant::app
