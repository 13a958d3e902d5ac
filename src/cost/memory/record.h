// Why an item of memory is what it is: what it was multiplied and added up from, noted by
// MemoryModel where it is computed. An explanation shows this and computes nothing.
//
// The number in RankMemory is the product of the very factors that are noted. A search asks for
// numbers alone: it keeps no record, and nothing is allocated.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "cost/memory/rank_memory.h"
#include "describe/layout/layout.h"
#include "workload/weights.h"

namespace sextant::cost {

// One of the numbers that a part is the product of.
struct MemoryFactor {
  enum class Kind : std::uint8_t {
    kCount,       // 4096 tokens
    kParameters,  // 218.1 M parameters, or 218.1 M parameters / 64 shards
    kBytes,       // 2 B (bf16)
    kOver,        // divided by 3 layers
    kShare,       // 1.5 %
  };
  Kind kind = Kind::kCount;
  double number = 0.0;
  std::string_view of;
  double shards = 1.0;  // that `number` is one of
  [[nodiscard]] constexpr double applied(double product) const {
    return kind == Kind::kOver ? product / number : product * number;
  }
};

// The kinds of factors as MemoryModel writes them.
constexpr MemoryFactor count(double number, std::string_view of) {
  return {MemoryFactor::Kind::kCount, number, of};
}
// Of one shard.
constexpr MemoryFactor parameters(double number, double shards = 1.0) {
  return {MemoryFactor::Kind::kParameters, number, "parameters", shards};
}
constexpr MemoryFactor bytes_each(double number, std::string_view of = {}) {
  return {MemoryFactor::Kind::kBytes, number, of};
}
constexpr MemoryFactor over(double number, std::string_view of) {
  return {MemoryFactor::Kind::kOver, number, of};
}
constexpr MemoryFactor share(double number) {
  return {MemoryFactor::Kind::kShare, number, {}};
}

// Bytes that are what they are by someone's choice, which is named only where it is noted.
inline std::string_view chosen_word(describe::Storage format) {
  return describe::word_of<describe::Storage>(describe::kStorageWords, format);
}
inline std::string_view chosen_word(describe::Precision format) {
  return describe::word_of<describe::Precision>(describe::kPrecisionWords, format);
}
inline std::string_view chosen_word(describe::LossKernel kernel) {
  return describe::word_of<describe::LossKernel>(describe::kLossKernelWords, kernel);
}
template <class Choice>
struct ChosenBytes {
  double number = 0.0;
  Choice choice;
  [[nodiscard]] constexpr double applied(double product) const { return product * number; }
  explicit operator MemoryFactor() const { return bytes_each(number, chosen_word(choice)); }
};
template <class Choice>
ChosenBytes(double, Choice) -> ChosenBytes<Choice>;

// Moments of a step, a bit each.
using MomentSet = std::uint8_t;
constexpr MomentSet moment_set(std::initializer_list<MemoryMoment> moments) {
  unsigned set = 0;
  for (const MemoryMoment moment : moments) {
    set |= 1U << static_cast<unsigned>(moment);
  }
  return static_cast<MomentSet>(set);
}
constexpr bool holds(MomentSet set, MemoryMoment moment) {
  return (set >> static_cast<unsigned>(moment) & 1U) != 0;
}
inline constexpr MomentSet kEveryMoment =
    moment_set({MemoryMoment::kIdle, MemoryMoment::kForward, MemoryMoment::kLoss,
                MemoryMoment::kBackward, MemoryMoment::kUpdate});
// While activations live.
inline constexpr MomentSet kPasses =
    moment_set({MemoryMoment::kForward, MemoryMoment::kLoss, MemoryMoment::kBackward});

// One of the summands of an item.
struct MemoryPart {
  MemoryItem item = MemoryItem::kParameters;
  MomentSet moments = 0;
  std::string what;
  std::vector<MemoryFactor> factors;  // their product is `bytes`
  Bytes bytes;
  std::vector<MemoryPart> parts;  // add up to `bytes`; none: not taken apart further
};

class MemoryRecord {
 public:
  // Everything below concerns this stage.
  void enter_stage(std::int64_t stage) { stage_ = stage; }
  // Names the block of the stage that is entered: "stage 3 block 0".
  [[nodiscard]] std::string place(std::size_t block) const;

  void add(MemoryPart part) { parts_.push_back(std::move(part)); }
  // REQUIRES: one was added.
  [[nodiscard]] MemoryPart& last() { return parts_.back(); }
  // What was noted of the item at these moments does not hold.
  void forget(MemoryItem item, MomentSet moments);
  // Weights that the rank holds `times`.
  void hold(std::string what, double times, const workload::Weights& each) {
    held_.push_back({std::move(what), times, each});
  }
  // Takes the last part, which is all dense parameters (or all of the experts'), apart by what
  // holds them.
  void take_apart(bool experts);

  // The summands of an item at a moment, in the order of their computation.
  [[nodiscard]] std::vector<const MemoryPart*> parts(MemoryItem item, MemoryMoment moment) const;

 private:
  struct Held {
    std::string what;
    double times = 0.0;
    workload::Weights each;
  };
  std::int64_t stage_ = 0;
  std::vector<Held> held_;
  std::vector<MemoryPart> parts_;
};

}  // namespace sextant::cost
