// A number from outside the program: its value, where it comes from, and what kind of knowledge it
// is.
#pragma once

#include <array>
#include <string>

#include "describe/words.h"

namespace sextant::describe {

enum class SourceKind { kDatasheet, kPaper, kMeasured, kFitted, kAssumed };

inline constexpr std::array<Word<SourceKind>, 5> kSourceKindWords{
    {{SourceKind::kDatasheet, "datasheet"},
     {SourceKind::kPaper, "paper"},
     {SourceKind::kMeasured, "measured"},
     {SourceKind::kFitted, "fitted"},
     {SourceKind::kAssumed, "assumed"}}};

template <typename T>
struct Sourced {
  T value{};
  SourceKind kind = SourceKind::kAssumed;
  std::string source;
};

}  // namespace sextant::describe
