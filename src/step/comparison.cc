#include "step/comparison.h"

#include <vector>

namespace sextant::step {
namespace {

std::optional<std::size_t> fastest(std::span<const Estimate* const> running) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (running[i] != nullptr &&
        (!best || running[i]->tokens_per_second() > running[*best]->tokens_per_second())) {
      best = i;
    }
  }
  return best;
}

// Whom the best is measured by: the first that runs; if that is the best, the next best.
std::optional<std::size_t> rival_of(std::size_t best, std::span<const Estimate* const> running) {
  std::optional<std::size_t> other;
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (i == best || running[i] == nullptr) {
      continue;
    }
    if (!other ||
        (best < *other && running[i]->tokens_per_second() > running[*other]->tokens_per_second())) {
      other = i;
    }
  }
  return other;
}

Advantage advantage_over(const Estimate& winner, const Estimate& loser) {
  const std::vector<StepTerm> mine = step_terms(winner.step);
  const std::vector<StepTerm> theirs = step_terms(loser.step);
  const double tokens = winner.tokens / loser.tokens;
  Advantage advantage;
  advantage.speed = speed_against(winner, loser);
  advantage.term = mine.front();
  advantage.shorter = -winner.step.step;
  advantage.saved = loser.step.step * tokens - winner.step.step;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (const Seconds shorter = theirs[i].time * tokens - mine[i].time;
        shorter > advantage.shorter) {
      advantage.shorter = shorter;
      advantage.term = mine[i];
    }
  }
  return advantage;
}

}  // namespace

double speed_against(const Estimate& one, const Estimate& other) {
  return one.tokens_per_second() / other.tokens_per_second();
}

Comparison comparison_of(std::span<const Estimate* const> running) {
  Comparison comparison{.best = fastest(running), .advantage = {}};
  if (!comparison.best) {
    return comparison;
  }
  if (const auto other = rival_of(*comparison.best, running)) {
    comparison.advantage = advantage_over(*running[*comparison.best], *running[*other]);
    comparison.advantage->best = *comparison.best;
    comparison.advantage->other = *other;
  }
  return comparison;
}

}  // namespace sextant::step
