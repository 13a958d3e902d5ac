// Communication of a rank: how much, how fast. From one rank the time holds the waiting for its
// peers; the shortest occurrence holds least of it, and the shortest over all ranks of one instance
// is its transfer (summary.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/collective.h"
#include "base/units.h"
#include "metrics/spread.h"
#include "metrics/steps.h"
#include "metrics/view.h"

namespace sextant::metrics {

// One row for each operation, group size and class of size (sizes up to a power of two).
struct CollectiveRow {
  std::optional<CollectiveOp> op;
  std::string word;  // the source's, where we have none
  std::optional<std::int64_t> ranks;
  std::optional<std::int64_t> size_class;  // bytes: at most this, more than half of it
  Spread time;
  WideSum bytes;
  // Bytes over time, of the row and of its fastest occurrence; nothing where bytes are not said.
  // Bus bandwidth is that times bus_share() (base/collective.h): nothing where op or ranks are not.
  [[nodiscard]] std::optional<BytesPerSecond> algorithm_bandwidth() const;
  [[nodiscard]] std::optional<BytesPerSecond> bus_bandwidth() const;
  std::optional<BytesPerSecond> fastest = std::nullopt;
  // REQUIRES: the same operation, ranks and size class.
  CollectiveRow& operator+=(const CollectiveRow& other);
  bool operator==(const CollectiveRow&) const = default;
};

// Rows of one operation, group size and size class as one; longest total first.
std::vector<CollectiveRow> folded(std::vector<CollectiveRow> rows);

// Of the kept steps; longest total first.
std::vector<CollectiveRow> collective_table(const View& view, const RankLanes& rank,
                                            const Steps& steps, std::size_t rank_number);

}  // namespace sextant::metrics
