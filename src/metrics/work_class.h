// What a kernel is for, as far as rules ask whose time goes with the lengths of sequences and with
// the tokens that an expert gets: told from its name and from that of the operator that launched
// it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "metrics/steps.h"
#include "metrics/view.h"

namespace sextant::metrics {

enum class WorkClass : std::uint8_t {
  kAttention,  // grows with the square of lengths
  kExperts,    // grows with the tokens that are routed here
  kOther,
};
inline constexpr std::size_t kWorkClasses = 3;
using WorkTimes =
    std::array<std::int64_t, kWorkClasses>;  // ns; overlaps count as often as they are

WorkClass work_class(std::string_view kernel, std::string_view launched_by);

// Compute of each step of a rank with a device, left-out steps too; of one without: none.
std::vector<WorkTimes> work_times(const View& view, const RankLanes& rank, const Steps& steps,
                                  std::size_t rank_number);

}  // namespace sextant::metrics
