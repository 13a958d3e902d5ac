// What a plan is best at, and how a search is asked for it.
#pragma once

#include <array>
#include <atomic>
#include <optional>
#include <vector>

#include "describe/words.h"
#include "machine/machine.h"
#include "search/find.h"

namespace sextant::search {

// Devices and cost are first of all questions of how many devices (device_counts.h).
enum class Objective { kStep, kMemory, kEnergy, kDevices, kCost };
inline constexpr std::array<describe::Word<Objective>, 5> kObjectiveWords{
    {{Objective::kStep, "step"},
     {Objective::kMemory, "memory"},
     {Objective::kEnergy, "energy"},
     {Objective::kDevices, "devices"},
     {Objective::kCost, "cost"}}};

// How hard a search may try, and when it must end.
struct Effort {
  unsigned threads = 0;  // 0: as many as there are
  const std::atomic<bool>* stop = nullptr;
  [[nodiscard]] bool stopped() const { return stop != nullptr && stop->load(); }
};

// `front`: also what no other plan beats in both time and memory.
FindOptions find_options(Objective objective, const machine::StepMachine& machine,
                         const Effort& effort, bool front = false);

// The plans found, the winner by the objective first: of least memory the leanest of those that are
// hardly slower than the fastest. REQUIRES: found as find_options asked.
std::vector<Plan> by_objective(Objective objective, const Found& found);

// The one fastest layout, for questions beside the main one; nothing where none is legal and fits,
// or the search was stopped. `known`: one of the problem's layouts, where one is at hand that may
// fit.
std::optional<Plan> fastest_plan(const Problem& problem, const Effort& effort,
                                 const describe::Layout* known = nullptr);

}  // namespace sextant::search
