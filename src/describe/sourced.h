// A number from outside the program: its value, where it comes from, and what kind of knowledge it is.
#pragma once

#include <string>

namespace sextant::describe {

enum class SourceKind { kDatasheet, kPaper, kMeasured, kFitted, kAssumed };

template <typename T>
struct Sourced {
  T value{};
  SourceKind kind = SourceKind::kAssumed;
  std::string source;
};

}  // namespace sextant::describe
