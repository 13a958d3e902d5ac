// HTA's own tables in its units, rounding and words, for those who compare with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/provenance.h"
#include "explain/style.h"
#include "metrics/hta_queues.h"
#include "metrics/hta_times.h"

namespace sextant::explain {

struct HtaRankTables {
  RankId rank;
  std::optional<metrics::HtaTemporal> temporal;
  std::optional<double> overlap;
  std::vector<metrics::HtaTypeRow> types;
  std::vector<metrics::HtaKernelRow> kernels;
  std::vector<metrics::HtaStreamIdle> idle;
  std::vector<metrics::HtaQueue> queues;
  metrics::HtaLaunches launches;
};

struct HtaAnswer {
  Provenance provenance;
  std::vector<HtaRankTables> ranks;        // by rank
  std::vector<metrics::HtaTypeRow> types;  // of all ranks together, longest first
  std::optional<std::int64_t> top;
};

std::string to_text(const HtaAnswer& answer, const Style& style);

}  // namespace sextant::explain
