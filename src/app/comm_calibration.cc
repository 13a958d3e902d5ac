#include "app/comm_calibration.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/sha256.h"

namespace sextant::app {
namespace {

Result<std::vector<std::string>> write_comm_files(const CommCalibration& made,
                                                  const std::string& folder) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < made.files.size(); ++i) {
    const std::string file = (std::filesystem::path(folder) / made.files[i].path).string();
    SEXTANT_CHECK_OK(write_with_folder(file, made.files[i].text));
    notes.push_back(
        fmt::format("constants of {} written to {}", made.answer.classes[i].name, file));
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

}  // namespace

void add_change(CommChange change, CommCalibration& made) {
  made.files.push_back({change.said.file, std::move(change.text)});
  made.answer.classes.push_back(std::move(change.said));
}

void put_provenance(const CalibrateFiles& files, const describe::DataStore& data,
                    CommCalibration& made) {
  made.answer.provenance = {std::string(explain::tool_version()), files.inputs};
  for (const CommCalibration::File& file : made.files) {
    if (const auto text = data.read(file.path)) {
      made.answer.provenance.inputs.emplace_back(data.where(file.path), sha256_hex(*text));
    }
  }
}

std::string unused_text(const Unused& unused) {
  std::string text;
  for (const auto& [reason, timings] : unused) {
    text += fmt::format("; {} left out: {}", timings, reason);
  }
  return text;
}

void leave_out_few(std::string_view kind, std::vector<cost::TimedCollective>& calls,
                   Unused& unused) {
  if (!calls.empty() && calls.size() < kFewestTimings) {
    unused[fmt::format("fewer than three {}", kind)] += static_cast<std::int64_t>(calls.size());
    calls.clear();
  }
}

Result<void> check_folder(const std::string& folder) {
  if (folder.ends_with(".toml")) {
    return invalid("constants of links and networks are written to a folder, this is a file",
                   "--write " + folder, "--write FOLDER, which gets comm/links and comm/networks");
  }
  return {};
}

Result<Output> output_of(const CommCalibration& made, const std::string& folder,
                         const Context& context) {
  Output output;
  output.notes = made.answer.warnings;
  if (!folder.empty()) {
    SEXTANT_TRY(const std::vector<std::string> notes, write_comm_files(made, folder));
    output.notes.insert(output.notes.end(), notes.begin(), notes.end());
  }
  output.text = explain::to_text(made.answer, context.style);
  return output;
}

}  // namespace sextant::app
