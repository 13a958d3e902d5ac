// What was summarised, and where it went.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "explain/diagnose_view.h"

namespace sextant::explain {

struct SummarizedRank {
  RankId rank;
  std::int64_t steps = 0;     // kept
  std::int64_t recorded = 0;  // left-out ones too
  std::int64_t collectives = 0;
};

struct SummarizeAnswer {
  Provenance provenance;
  std::string out;
  Bytes bytes;
  std::vector<SummarizedRank> ranks;
  std::vector<DiagnosedLoss> unread;
};

std::string to_text(const SummarizeAnswer& answer, const Style& style);

}  // namespace sextant::explain
