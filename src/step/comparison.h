// Which of several jobs is fastest, and which term of its step makes it so.
//
// By tokens: jobs may differ in their batch. A term's difference is that of as many tokens as a
// step of the fastest one takes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/units.h"
#include "step/step_answer.h"

namespace sextant::step {

// Tokens a second of one over those of another.
double speed_against(const Estimate& one, const Estimate& other);

struct Advantage {
  std::size_t best = 0;
  std::size_t other = 0;  // the first that runs, or the next best where `best` is the first
  double speed = 1.0;     // of best, over other's
  StepTerm term;          // the one that shrank most, for each token
  Seconds shorter;        // by so much a step of the best one's tokens
  Seconds saved;          // of the step
};

struct Comparison {
  std::optional<std::size_t> best;     // most tokens a second; nothing where none runs
  std::optional<Advantage> advantage;  // nothing where fewer than two run
};

// A null estimate: a job that cannot run (not legal, its machine not known, does not fit).
Comparison comparison_of(std::span<const Estimate* const> running);

}  // namespace sextant::step
