// What changes convergence, freed: the plan of every combination of the values of batch, sequence
// length and format, and the one that is best for a token.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "describe/words.h"
#include "search/objective.h"
#include "search/task.h"

namespace sextant::search {

// Batches from a quarter to four times the given one, sequences from half to twice the given length
// (with as many tokens a step), the formats of products that the device has.
enum class Free { kBatch, kLength, kPrecision };
inline constexpr std::array<describe::Word<Free>, 3> kFreeWords{
    {{Free::kBatch, "gbs"}, {Free::kLength, "seq"}, {Free::kPrecision, "precision"}}};

// The best layout where something that changes convergence has another value.
struct PlanFreed {
  std::string what;            // "gbs=512,precision=fp8"
  std::optional<PlanRow> row;  // nothing: no layout is legal and fits
  bool chosen = false;
};
struct Freed {
  std::vector<PlanFreed> tried;  // in the order of the values; empty: nothing is freed
  std::optional<Task> chosen;    // nothing: nothing is freed, or no combination has a plan
};
// REQUIRES: a length is freed only of sequences that have one.
Result<Freed> free_choices(const Task& task, const std::vector<Free>& kinds, Objective objective,
                           const Effort& effort, const describe::DataStore& data);

}  // namespace sextant::search
