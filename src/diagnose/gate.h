// What a diagnosis must not hold, for CI: rules that may find nothing, and how much may be gained.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"

namespace sextant::diagnose {

struct Gate {
  std::vector<std::string> rules;               // of the rule book
  std::optional<double> gain = std::nullopt;    // total gain ceiling above this: 0.05 is 5 %
  std::optional<double> slower = std::nullopt;  // of two runs: the second's step longer by more
};

// What of it is met, a sentence each, in the gate's order; empty: the diagnosis passes. A finding
// that another explains, or that is below what a step varies by, meets nothing.
std::vector<std::string> met(const Gate& gate, const Diagnosis& diagnosis);

// The total of a diagnosis as a gain; nothing where all of the step could go.
std::optional<double> total_gain(const Diagnosis& diagnosis);

}  // namespace sextant::diagnose
