#include "app/calibrate_comm.h"

#include <filesystem>

#include <fmt/format.h>

#include "app/calibrate_files.h"
#include "calibrate/collective_calibration.h"
#include "calibrate/comm_calibration.h"
#include "calibrate/nccl_calibration.h"
#include "explain/comm_calibration_view.h"

namespace sextant::app {
namespace {

Result<std::vector<std::string>> write_comm_files(const calibrate::CommCalibration& made,
                                                  const std::string& folder) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < made.files.size(); ++i) {
    const std::string file = (std::filesystem::path(folder) / made.files[i].path).string();
    SEXTANT_CHECK_OK(write_with_folder(file, made.files[i].text));
    notes.push_back(fmt::format("constants of {} written to {}", made.classes[i].name, file));
  }
  notes.push_back(
      fmt::format("use them: add --data {} to any command, or data = \"{}\" to the configuration "
                  "file",
                  folder, folder));
  notes.emplace_back(
      "they then replace the built-in ones for every device and cluster on such links or networks, "
      "not only for what was measured");
  return notes;
}

// Where --write points: an Error for the name of a file.
Result<void> check_folder(const std::string& folder) {
  if (folder.ends_with(".toml")) {
    return invalid("constants of links and networks are written to a folder, this is a file",
                   "--write " + folder, "--write FOLDER, which gets comm/links and comm/networks");
  }
  return {};
}

// The answer; with a folder, the files below it and how to use them.
Result<Output> output_of(const calibrate::CommCalibration& made, const std::string& folder,
                         const Context& context) {
  Output output;
  output.notes = made.warnings;
  if (!folder.empty()) {
    SEXTANT_TRY(const std::vector<std::string> notes, write_comm_files(made, folder));
    output.notes.insert(output.notes.end(), notes.begin(), notes.end());
  }
  output.text = explain::to_text(
      explain::CommCalibrationAnswer{{std::string(explain::tool_version()), made.inputs}, made},
      context.style);
  return output;
}

}  // namespace

Result<Output> calibrate_collectives(const calibrate::Inputs& files,
                                     const std::string& write_folder, const Context& context) {
  SEXTANT_CHECK_OK(check_folder(write_folder));
  SEXTANT_TRY(const calibrate::CommCalibration made,
              calibrate::collective_calibration(files, context.data));
  return output_of(made, write_folder, context);
}

Result<Output> calibrate_nccl(const calibrate::Inputs& files, const NcclOptions& options,
                              const Context& context) {
  SEXTANT_CHECK_OK(check_folder(options.write_folder));
  SEXTANT_TRY(const calibrate::CommCalibration made,
              calibrate::nccl_calibration(files, options.cluster, context.data));
  return output_of(made, options.write_folder, context);
}

}  // namespace sextant::app
