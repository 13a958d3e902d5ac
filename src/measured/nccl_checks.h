// What the numbers of an nccl-tests table say about each other: bytes, time, bandwidths and ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measured/nccl_tests.h"

namespace sextant::measured {

// The number of ranks that the bandwidths of the lines allow, given how they are rounded. `exact`
// is false where several are possible and one alone is a power of two.
struct RanksFound {
  std::int64_t ranks = 0;
  bool exact = true;
};
std::optional<RanksFound> ranks_of_lines(CollectiveOp op, const std::vector<NcclLine>& lines);

// The operation that alone prints such lines, among those of CollectiveOp.
std::optional<CollectiveOp> op_of_lines(const std::vector<NcclLine>& lines);

// Why the line contradicts itself, or what is known of its table; empty where it does not.
std::string contradiction(const NcclLine& line, std::optional<CollectiveOp> op,
                          std::optional<std::int64_t> ranks);

}  // namespace sextant::measured
