// docs/diagnosis.md: what was diagnosed of runs whose fault is known.
#pragma once

#include <string>

#include "confusion.h"

namespace sextant::tests {

std::string confusion_page(const ConfusionResults& results);

// A fault, what came first, and what it claims, for people who read a failing test.
std::string to_line(const FaultResult& result);

}  // namespace sextant::tests
