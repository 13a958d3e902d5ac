// Why a step takes what it takes: the operators and messages it was priced from, what of each
// message is exposed, and the rest that is neither, noted by StepCosts and what it calls where they
// are priced, hidden and added up. An explanation shows this and computes nothing.
//
// Of the slowest pipeline rank for what microbatches take, of the rank that is through last for
// what is done once a step. Every term of StepTerms is the sum of what is noted of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "cost/compute/rank_time.h"
#include "describe/step_facts.h"
#include "step/step_model.h"
#include "workload/collective.h"

namespace sextant::step {

struct NotedMessage {
  workload::Collective message;
  Seconds each;        // of its calls
  double times = 0.0;  // calls in a microbatch, or once a step
  Seconds exposed;     // of all of them
  [[nodiscard]] Seconds all() const { return each * times; }
};
// Adds to its like in the list, or to its end.
void add_alike(const NotedMessage& more, std::vector<NotedMessage>& list);

// Which share of the messages of a pass is exposed, by what hides them.
struct ExposedShares {
  std::array<double, workload::kHidesWords.size()> of{};
  Seconds first;  // besides: of those behind layers, the first, which has no layers before it
  ExposedShares() { of.fill(1.0); }
  [[nodiscard]] double& operator[](workload::Hides hides) {
    return of[static_cast<std::size_t>(hides)];
  }
};

// One pass of a microbatch through one stage.
struct PassRecord {
  std::vector<cost::OperatorTime> operators;
  std::vector<NotedMessage> messages;
  Seconds first;         // ExposedShares::first, in the exposed time of data parallelism
  Seconds first_gather;  // in its compute: what the device waits for FSDP's first unit
  Seconds expert_wait;   // in its compute: for experts that are issued one by one
};

struct StageRecord {
  std::size_t stage = 0;  // in Estimate::stages
  PassRecord forward;
  PassRecord backward;
};

// What a stage does once a step.
struct OnceRecord {
  std::size_t stage = 0;
  std::vector<cost::OperatorTime> update;
  std::vector<NotedMessage> messages;
};

struct StepRecord {
  std::int64_t slowest_rank = 0;
  std::int64_t once_rank = 0;
  std::vector<StageRecord> stages;  // of slowest_rank
  std::vector<OnceRecord> once;     // of once_rank
  Seconds between;                  // in pp's exposed time: messages between stages
  bool simulated = true;            // the bubble is the schedule's; else of ranks before and after
  Seconds update_wait;              // of the update, what the device waits for its host
  Seconds loop;                     // of StepTerms::beside
  Seconds uneven;                   // the rest of it
  describe::StepFacts facts;
  // Exposed messages once a step.
  [[nodiscard]] Seconds once_exposed(Axis axis) const;
};

}  // namespace sextant::step
