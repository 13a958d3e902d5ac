// One factor of a collective varied: which values, and the question at each of them.
//
//   bytes       1KiB,2MiB; alone: powers of two from 1 KiB to 16 GiB
//   ranks       the first so many; alone: powers of two, then all
//   nodes       the ranks (with the stride) of the first so many nodes; alone: as above
//   collective  all_reduce,…; alone: all of them
//   link        files of data/comm/links, each at its own rate; alone: all that are of real links
//   nic         the rate of a NIC; alone: 100, 200, 400 and 800 Gbit/s
// Everything else stays. A value that the cluster has no room for is a point with a reason.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "describe/words.h"
#include "machine/collective_estimate.h"

namespace sextant::app {

enum class CollectiveFactor : std::uint8_t { kBytes, kRanks, kNodes, kCollective, kLink, kNic };
inline constexpr std::array<describe::Word<CollectiveFactor>, 6> kCollectiveFactorWords{
    {{CollectiveFactor::kBytes, "bytes"},
     {CollectiveFactor::kRanks, "ranks"},
     {CollectiveFactor::kNodes, "nodes"},
     {CollectiveFactor::kCollective, "collective"},
     {CollectiveFactor::kLink, "link"},
     {CollectiveFactor::kNic, "nic"}}};

struct SweptQuestion {
  std::string value;  // "1 MiB", "16"
  machine::CollectiveQuestion question;
};

struct CollectiveSweep {
  CollectiveFactor factor = CollectiveFactor::kBytes;
  std::vector<SweptQuestion> points;  // one at least, at most describe::kMostSweepValues
};

// Only the factor's name of "ranks=2,4".
Result<CollectiveFactor> parse_collective_factor(std::string_view text);

// Errors name --sweep and what is allowed.
Result<CollectiveSweep> parse_collective_sweep(std::string_view text,
                                               const machine::CollectiveQuestion& base,
                                               const describe::DataStore& data);

// A size, a count and an operation as users write them; `where` is the option.
Result<Bytes> parse_message(std::string_view text, std::string_view where);
Result<std::int64_t> parse_number(std::string_view text, std::string_view where);
Result<describe::CollectiveOp> parse_collective(std::string_view text, std::string_view where);

}  // namespace sextant::app
