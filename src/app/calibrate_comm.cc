#include "app/calibrate_comm.h"

#include <filesystem>

#include <fmt/format.h>

#include "app/calibrate_notes.h"
#include "calibrate/collective_calibration.h"
#include "calibrate/comm_calibration.h"
#include "calibrate/nccl_calibration.h"

namespace sextant::app {
namespace {

std::vector<Artifact> comm_artifacts(const calibrate::CommCalibration& made,
                                     const std::string& folder) {
  std::vector<Artifact> artifacts;
  for (std::size_t i = 0; i < made.files.size(); ++i) {
    const std::string file = (std::filesystem::path(folder) / made.files[i].path).string();
    artifacts.push_back(
        {.path = file,
         .bytes = made.files[i].text,
         .makes_folders = true,
         .note = {fmt::format("constants of {} written to {}", made.classes[i].name, file)}});
  }
  if (!artifacts.empty()) {
    std::vector<std::string>& note = artifacts.back().note;
    note.push_back(use_text(folder));
    note.emplace_back(
        "they then replace the built-in ones for every device and cluster on such links or "
        "networks, not only for what was measured");
  }
  return artifacts;
}

// Where ‹write› points: an Error for the name of a file.
Result<void> check_folder(const std::string& folder) {
  if (folder.ends_with(".toml")) {
    return invalid("constants of links and networks are written to a folder, this is a file",
                   "‹write› " + folder, "‹write› FOLDER, which gets comm/links and comm/networks");
  }
  return {};
}

// The answer; with a folder, the files below it and how to use them.
Answered<explain::CommCalibrationAnswer> answered_of(const calibrate::CommCalibration& made,
                                                     const std::string& folder) {
  Answered<explain::CommCalibrationAnswer> answered{
      .answer = {{std::string(explain::tool_version()), made.inputs}, made},
      .notes = made.warnings};
  if (!folder.empty()) {
    answered.artifacts = comm_artifacts(made, folder);
  }
  return answered;
}

}  // namespace

Result<Answered<explain::CommCalibrationAnswer>> calibrate_collectives(
    const calibrate::Inputs& files, const std::string& write_folder, const Context& context) {
  SEXTANT_CHECK_OK(check_folder(write_folder));
  SEXTANT_TRY(const calibrate::CommCalibration made,
              calibrate::collective_calibration(files, context.data));
  return answered_of(made, write_folder);
}

Result<Answered<explain::CommCalibrationAnswer>> calibrate_nccl(const calibrate::Inputs& files,
                                                                const NcclOptions& options,
                                                                const Context& context) {
  SEXTANT_CHECK_OK(check_folder(options.write_folder));
  SEXTANT_TRY(const calibrate::CommCalibration made,
              calibrate::nccl_calibration(files, options.cluster, context.data));
  return answered_of(made, options.write_folder);
}

}  // namespace sextant::app
