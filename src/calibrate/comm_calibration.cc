#include "calibrate/comm_calibration.h"

#include <utility>

#include <fmt/format.h>

#include "base/sha256.h"

namespace sextant::calibrate {
void add_change(CommChange change, CommCalibration& made) {
  made.files.push_back({change.said.file, std::move(change.text)});
  made.classes.push_back(std::move(change.said));
}

void put_inputs(const Inputs& files, const describe::DataStore& data, CommCalibration& made) {
  made.inputs = files.inputs;
  for (const CommCalibration::File& file : made.files) {
    if (const auto text = data.read(file.path)) {
      made.inputs.emplace_back(data.where(file.path), sha256_hex(*text));
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

}  // namespace sextant::calibrate
