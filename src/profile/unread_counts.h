// What a reader of JSON traces left unread, by reason, while it reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/trace_text.h"
#include "timeline/recording.h"

namespace sextant::profile {

struct UnreadCounts {
  std::int64_t no_phase = 0;
  std::int64_t other_phase = 0;
  std::int64_t no_name = 0;
  std::int64_t no_start = 0;
  std::int64_t no_duration = 0;
  std::int64_t negative_duration = 0;
  std::int64_t too_far = 0;
  std::int64_t too_many = 0;
  std::int64_t too_many_lanes = 0;
  std::int64_t unnamed = 0;
  std::int64_t unfinished = 0;
  std::int64_t memory_without_totals = 0;
  std::int64_t facts = 0;
};

// Those that are not zero, in words, and what the text itself lost. `damage`: of the source.
std::vector<timeline::Unread> unread_of(const UnreadCounts& counts, const TraceTextFacts& text,
                                        const std::string& damage);

}  // namespace sextant::profile
