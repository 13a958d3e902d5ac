// What a change to a job is said to do: to which quantity of its step, in which direction, and by
// how much. Sources of advice, claims and the judge speak of the same ones.
#pragma once

#include <array>

#include "describe/words.h"
#include "step/step_answer.h"

namespace sextant::step {

// What a step is judged by. All but kFits are numbers of a job, larger where there is more of it.
enum class Quantity {
  kStep,           // time of a step
  kTokenTime,      // device time a token: where batch or devices differ
  kMemory,         // of the fullest device
  kFits,           // does the job fit in memory?
  kCommunication,  // exposed, all axes
  kTensorComm,     // exposed, of one axis
  kContextComm,
  kExpertComm,
  kDataComm,
  kPipelineComm,
  kBubble,
  kBubbleShare,  // of the step
  kCompute,      // operators
  kHost,         // waiting for the host
  kUpdate,       // the optimizer
};
inline constexpr std::array<describe::Word<Quantity>, 15> kQuantityWords{
    {{Quantity::kStep, "step"},
     {Quantity::kTokenTime, "token-time"},
     {Quantity::kMemory, "memory"},
     {Quantity::kFits, "fits"},
     {Quantity::kCommunication, "communication"},
     {Quantity::kTensorComm, "tp"},
     {Quantity::kContextComm, "cp"},
     {Quantity::kExpertComm, "ep"},
     {Quantity::kDataComm, "dp"},
     {Quantity::kPipelineComm, "pp"},
     {Quantity::kBubble, "bubble"},
     {Quantity::kBubbleShare, "bubble-share"},
     {Quantity::kCompute, "compute"},
     {Quantity::kHost, "host"},
     {Quantity::kUpdate, "update"}}};

enum class Direction { kLower, kSame, kHigher };
inline constexpr std::array<describe::Word<Direction>, 3> kDirectionWords{
    {{Direction::kLower, "lower"}, {Direction::kSame, "same"}, {Direction::kHigher, "higher"}}};

// After over before: "0.7 to 0.85".
struct RatioRange {
  double low = 0;
  double high = 0;
  [[nodiscard]] bool holds(double ratio) const { return low <= ratio && ratio <= high; }
  bool operator==(const RatioRange&) const = default;
};

// Nearer to no change than this is "same": below what any model of a step can tell.
inline constexpr double kSameShare = 0.002;
// Who says "the same" means it within a few percent.
inline constexpr double kClaimedSameShare = 0.03;

// In its base unit (seconds, bytes); kFits: 0 or 1, as `fits` says: how much of a device's memory
// may be used is the asker's business.
double value_of(Quantity quantity, const Estimate& estimate, bool fits);

// Does it speak of a step's time, which a job that does not fit does not have?
bool asks_for_time(Quantity quantity);

Direction direction_of(double before, double after);
Direction opposite_of(Direction direction);

}  // namespace sextant::step
