// HTA's temporal breakdown, overlap, kernel types and kernels (definitions: docs/metrics.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metrics/hta_rows.h"

namespace sextant::metrics {

struct HtaTemporal {
  std::int64_t idle_us = 0;
  std::int64_t compute_us = 0;
  std::int64_t non_compute_us = 0;
  std::int64_t kernel_us = 0;  // from the first start to the last end
};
// Nothing of a rank without rows.
std::optional<HtaTemporal> hta_temporal(const HtaRank& rank);

// Per cent of communication during which something computes; nothing without communication.
std::optional<double> hta_overlap(const HtaRank& rank);

// Time in which exactly these types run, over ranks; longest first. "COMPUTATION overlapping
// MEMORY" and the like where it is more than one.
struct HtaTypeRow {
  std::string types;
  std::int64_t sum_us = 0;
  double percentage = 0.0;  // of all of them
};
std::vector<HtaTypeRow> hta_kernel_types(const std::vector<HtaRank>& ranks);
// The same of rows that were made of ranks one by one.
std::vector<HtaTypeRow> hta_types_joined(std::span<const HtaTypeRow> rows);

// By name, longest first; in whole microseconds. HTA itself folds all but ten of a type into
// "others", and then gives each of the ten its sum as mean, least and largest (its defect 4).
struct HtaKernelRow {
  std::string name;
  HtaType type = HtaType::kComputation;
  std::int64_t count = 0;
  std::int64_t sum_us = 0;
  std::int64_t min_us = 0;
  std::int64_t max_us = 0;
  double mean_us = 0.0;
  double deviation_us = 0.0;  // of a sample; of one: 0
};
std::vector<HtaKernelRow> hta_kernels(const View& view, const HtaRank& rank);

}  // namespace sextant::metrics
