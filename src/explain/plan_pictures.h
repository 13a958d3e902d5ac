// The pictures of a plan: what its ranks hold, what they do when, what lies between it and the next
// one, time against memory, and the best time of each tp and pp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cost/memory/memory.h"
#include "explain/drawing.h"
#include "explain/plan_view.h"
#include "timeline/timeline.h"

namespace sextant::explain {

// A bar a pipeline rank, at its fullest moment, against what a plan may use and what a device has.
Drawing memory_picture(std::span<const cost::RankMemory> ranks, Bytes limit, Bytes device,
                       const std::string& title);

// A row a pipeline rank; more than 64 of them: every second, third, …
Drawing timeline_picture(const timeline::Timeline& timeline, Seconds step,
                         const std::string& title);

// From the first's step to the second's, term by term.
Drawing waterfall_picture(const search::PlanRow& first, const search::PlanRow& second,
                          const std::string& title);

// Memory over time, fastest first. REQUIRES: a row at least.
Drawing front_picture(std::span<const search::PlanRow> front, const std::string& title);

struct MeshTime {
  std::int64_t tp = 1;
  std::int64_t pp = 1;
  Seconds step;
};
// tp down, pp across, the best of each. REQUIRES: one at least.
Drawing mesh_picture(std::span<const MeshTime> times, const std::string& title);

}  // namespace sextant::explain
