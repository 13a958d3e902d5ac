// What speaks against a layout beside its time, in points: the measure of simplicity by which a
// plan is recommended (recommend.h).
//
// A point is something more to set, to watch and to explain; ten are a way of running that most
// people would not take for a few percent, that no measured run has shown to work as predicted, or
// that leaves no memory. Points add up, a plain value has none, and what the user fixed has none
// either, as every layout has it. docs/models/search.md has the table.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "describe/difference_spread.h"
#include "describe/words.h"
#include "search/choices.h"

namespace sextant::search {

enum class Burden {
  kAxes,        // tp, pp, ep, etp above 1: one each
  kContexts,    // cp above 1: two
  kChunks,      // several a rank: one, more than eight: ten more
  kCut,         // stages of different lengths: ten; embedding and loss counted as layers: one
  kSwitches,    // each other key away from its plain value
  kUnmeasured,  // each size, schedule and sharding that no measured run had: ten
  kMemory,      // the allocator would reserve more than there is: ten
};
inline constexpr std::array<describe::Word<Burden>, 7> kBurdenWords{
    {{Burden::kAxes, "axes"},
     {Burden::kContexts, "contexts"},
     {Burden::kChunks, "chunks"},
     {Burden::kCut, "uneven_stages"},
     {Burden::kSwitches, "switches"},
     {Burden::kUnmeasured, "not_measured"},
     {Burden::kMemory, "memory"}}};

struct Burdens {
  std::array<int, kBurdenWords.size()> points{};
  [[nodiscard]] int& operator[](Burden of) { return points[static_cast<std::size_t>(of)]; }
  [[nodiscard]] int operator[](Burden of) const { return points[static_cast<std::size_t>(of)]; }
  [[nodiscard]] int total() const {
    int sum = 0;
    for (const int one : points) {
      sum += one;
    }
    return sum;
  }
  Burdens& operator+=(const Burdens& other) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i] += other.points[i];
    }
    return *this;
  }
  bool operator==(const Burdens&) const = default;
};

inline constexpr int kHeavy = 10;
inline constexpr std::int64_t kFewChunks = 8;

class Simplicity {
 public:
  // Plain is the first of each of the choices. `left_out`: a source whose runs must not count as
  // measured; "": none.
  Simplicity(const Choices& choices, const describe::Job& job,
             const describe::DifferenceSpreads& spreads, std::string_view left_out = {});

  // Of the mesh, its pipeline and who talks to whom: what a layout has before anything is switched.
  [[nodiscard]] Burdens of_mesh(const describe::Layout& layout) const;
  // Of what is sharded, computed again and hidden.
  [[nodiscard]] Burdens of_switches(const describe::Layout& layout) const;
  // `device`: what the allocator is expected to reserve.
  [[nodiscard]] Burdens of(const describe::Layout& layout, Bytes device) const;
  [[nodiscard]] bool is_tight(Bytes device) const { return device > usable_; }

 private:
  static constexpr std::size_t kSizes = 6;  // tp, cp, pp, vpp, ep, mbs
  [[nodiscard]] static std::array<std::int64_t, kSizes> sizes_of(const describe::Layout& layout);

  describe::Layout plain_;
  bool plain_sp_ = false;
  Bytes usable_;
  std::array<std::int64_t, kSizes> measured_{};  // the largest
  std::array<bool, 4> shardings_{};              // measured, by ZeRO stage
  std::array<bool, describe::kScheduleWords.size()> schedules_{};
};

}  // namespace sextant::search
