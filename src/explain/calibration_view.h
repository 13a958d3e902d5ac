// What `sextant calibrate` says, and the file of kernel facts it writes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cost/calibrate/kernel_fit.h"
#include "describe/kernel_facts.h"
#include "explain/provenance.h"
#include "explain/style.h"

namespace sextant::explain {

struct CalibrationAnswer {
  Provenance provenance;
  std::string device;
  std::string start;  // where the values before the fit come from
  // Errors by family: with the facts before, and with the file as it was written.
  std::vector<cost::FamilyError> before;
  std::vector<cost::FamilyError> after;  // the same families in the same order
  std::vector<cost::HalfSplit> halves;   // likewise
  std::vector<cost::FittedKey> keys;
  std::vector<std::pair<std::string, std::int64_t>> unused;  // why, and how many rows
};

// JSON has families, keys and unused rows; the other formats tables of them.
std::string to_text(const CalibrationAnswer& answer, const Style& style);

// One device's tables of kernels, fitted on half of their shapes and scored on the rest.
struct DeviceHalves {
  std::string device;
  std::vector<cost::FamilyError> errors;  // with the facts as they are
  // The same apart for calls of 20 µs and more and for those below, which the host decides.
  std::vector<cost::FamilyError> long_calls;
  std::vector<cost::FamilyError> short_calls;
  std::vector<cost::HalfSplit> halves;  // the same families in the same order
};
// A section of the ledger; "" where there is no device.
std::string halves_section(const std::vector<DeviceHalves>& devices);

// The file data/kernels/<device>.toml; `head` is its first comment, one line.
std::string kernel_file(describe::KernelFacts facts, const std::string& head);

}  // namespace sextant::explain
