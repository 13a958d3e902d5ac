// What `sextant traffic` says: every message of a step, and how far bytes travel.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "describe/layout/job.h"
#include "explain/provenance.h"
#include "explain/style.h"
#include "workload/matrix.h"
#include "workload/traffic.h"

namespace sextant::explain {

struct TrafficAnswer {
  Provenance provenance;
  describe::Job job;
  std::vector<workload::Collective> collectives;  // of all stages
  std::int64_t stages = 1;
  workload::TrafficTotals totals;  // of all ranks
  std::array<workload::Reach, workload::kGroupKindWords.size()> reach;
};

std::string to_text(const TrafficAnswer& answer, const Style& style);

// Lines of the matrix's CSV, which begins with matrix_csv_header().
std::string_view matrix_csv_header();
std::string matrix_csv(std::int64_t from, std::span<const workload::MatrixEntry> entries);

}  // namespace sextant::explain
