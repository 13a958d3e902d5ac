#include "verify/claims.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/quantity_text.h"

namespace sextant::verify {
namespace {

using step::Direction;
using step::Estimate;
using step::Quantity;
using step::RatioRange;

bool meet(RatioRange one, RatioRange other) {
  return one.low <= other.high && other.low <= one.high;
}

// Is all that it says twice the effect of such a ratio, or more?
bool is_twice_the_effect(RatioRange claimed, double ratio) {
  constexpr double kRounding = 1e-9;
  const double twice = 2.0 * ratio - 1.0;
  return ratio > 1.0 ? claimed.low >= twice * (1.0 - kRounding)
                     : claimed.high <= twice * (1.0 + kRounding);
}

// Can what it says be meant? Not where the range is none, or lies on the other side of 1.
bool contradicts_itself(const Claim& claim) {
  if (!claim.ratio) {
    return false;
  }
  const RatioRange range = *claim.ratio;
  const bool is_range = range.low >= 0.0 && range.low <= range.high && std::isfinite(range.high);
  return !is_range || (claim.direction == Direction::kLower && range.low >= 1.0) ||
         (claim.direction == Direction::kHigher && range.high <= 1.0);
}

std::string_view quantity_word(Quantity quantity) {
  return describe::word_of<Quantity>(step::kQuantityWords, quantity);
}

// "−41.2 ms", "+1.3 GiB".
template <typename T>
std::string signed_text(T change) {
  return change < T() ? "−" + to_text(-change) : "+" + to_text(change);
}

// Of bytes by item at the fullest moment, the one that moved most the way their sum did.
std::string memory_moved_most(const Estimate& before, const Estimate& after) {
  const cost::MemoryItems& old_items = before.memory.fullest.peak();
  const cost::MemoryItems& new_items = after.memory.fullest.peak();
  const double sign = after.memory.fullest.device < before.memory.fullest.device ? -1.0 : 1.0;
  Bytes most;
  std::string_view name;
  for (const auto& [item, word] : cost::kMemoryItemWords) {
    const Bytes change = new_items[item] - old_items[item];
    if (name.empty() || change * sign > most * sign) {
      most = change;
      name = word;
    }
  }
  return fmt::format("{} {}", name, signed_text(most));
}

// What the model says of the quantity.
struct Seen {
  double ratio = 1.0;
  RatioRange interval{};
  std::string term = {};
  std::string figures = {};  // "12.1 ms -> 8.0 ms"
};

Seen seen_speed(const Sides& sides) {
  const step::Difference& speed = sides.speed;
  return {1.0 / speed.speed,
          {1.0 / speed.high, 1.0 / speed.low},
          moved_most(sides.before, sides.after),
          fmt::format("{} -> {}", to_text(sides.before.step.step), to_text(sides.after.step.step))};
}

Seen seen_memory(const Sides& sides) {
  const Bytes before = sides.before.memory.fullest.device;
  const Bytes after = sides.after.memory.fullest.device;
  const double ratio = after / before;
  const double width = std::min(kMemoryError * ratio, std::abs(1.0 - ratio) / 2.0);
  return {ratio,
          {ratio - width, ratio + width},
          memory_moved_most(sides.before, sides.after),
          fmt::format("{} -> {}", to_text(before), to_text(after))};
}

Seen seen_term(Quantity quantity, const Sides& sides) {
  const bool share = quantity == Quantity::kBubbleShare;
  const double least = share ? kSeenShare : kSeenShare * sides.before.step.step.base();
  const double before = step::value_of(quantity, sides.before, sides.fits_before);
  const double after = step::value_of(quantity, sides.after, sides.fits_after);
  const double ratio = std::max(after, least) / std::max(before, least);
  const double spread = sides.speed.speed / sides.speed.low;
  Seen seen{ratio, {ratio / spread, ratio * spread}, {}, {}};
  if (std::abs(after - before) < least) {
    seen.interval = {std::min(seen.interval.low, 1.0), std::max(seen.interval.high, 1.0)};
  }
  const std::string_view name = quantity_word(quantity);
  if (share) {
    seen.term = fmt::format("{} {:+.1f} points", name, (after - before) * 100.0);
    seen.figures = fmt::format("{:.1f} % -> {:.1f} %", before * 100.0, after * 100.0);
  } else {
    seen.term = fmt::format("{} {}", name, signed_text(Seconds(after - before)));
    seen.figures = fmt::format("{} -> {}", to_text(Seconds(before)), to_text(Seconds(after)));
  }
  return seen;
}

JudgedClaim judged_fits(const Claim& claim, const Sides& sides) {
  const double before = sides.fits_before ? 1.0 : 0.0;
  const double after = sides.fits_after ? 1.0 : 0.0;
  JudgedClaim judged{.claim = claim, .ratio = after, .interval = {after, after}};
  judged.ruling = step::direction_of(before, after) == claim.direction ? ClaimRuling::kHolds
                                                                       : ClaimRuling::kRefuted;
  judged.why = fmt::format("claimed {}; as it stands the job {}, then it {}", words_of(claim),
                           sides.fits_before ? "fits" : "does not fit",
                           sides.fits_after ? "fits" : "does not fit");
  return judged;
}

// Nothing before and nothing after: what is claimed to move is not there.
bool is_nothing(Quantity quantity, const Sides& sides) {
  if (is_speed(quantity) || quantity == Quantity::kMemory) {
    return false;
  }
  const double least =
      quantity == Quantity::kBubbleShare ? kSeenShare : kSeenShare * sides.before.step.step.base();
  return std::max(step::value_of(quantity, sides.before, sides.fits_before),
                  step::value_of(quantity, sides.after, sides.fits_after)) < least;
}

// Memory is arithmetic: its direction is told where the ratio is not 1.
ClaimRuling memory_ruling(const Claim& claim, const Seen& seen) {
  const Direction told = step::direction_of(1.0, seen.ratio);
  if (told == Direction::kSame && claim.direction != Direction::kSame) {
    return ClaimRuling::kRefuted;
  }
  return ruling_of(claim, seen.ratio, seen.interval);
}

std::string_view verb_of(ClaimRuling ruling) {
  switch (ruling) {
    case ClaimRuling::kHolds:
      return "the model agrees";
    case ClaimRuling::kWrongSize:
      return "the model has another size";
    case ClaimRuling::kRefuted:
      return "the model refutes it";
    case ClaimRuling::kCannotTell:
      return "the model cannot tell";
  }
  return "";
}

}  // namespace

bool is_speed(Quantity quantity) {
  return quantity == Quantity::kStep || quantity == Quantity::kTokenTime;
}

std::string words_of(const Claim& claim) {
  std::string text =
      fmt::format("{} {}", quantity_word(claim.quantity),
                  describe::word_of<Direction>(step::kDirectionWords, claim.direction));
  if (claim.ratio) {
    text += fmt::format(", x{:.3g} to x{:.3g}", claim.ratio->low, claim.ratio->high);
  }
  return text;
}

std::string ratio_words(double ratio, RatioRange interval) {
  return fmt::format("x{:.2f} (x{:.2f} to x{:.2f})", ratio, interval.low, interval.high);
}

std::string moved_most(const Estimate& before, const Estimate& after) {
  const std::vector<step::StepTerm> old_terms = step::step_terms(before.step);
  const std::vector<step::StepTerm> new_terms = step::step_terms(after.step);
  const double sign = after.step.step < before.step.step ? -1.0 : 1.0;
  std::size_t most = 0;
  const auto change = [&](std::size_t i) { return new_terms[i].time - old_terms[i].time; };
  for (std::size_t i = 1; i < old_terms.size(); ++i) {
    if (change(i) * sign > change(most) * sign) {
      most = i;
    }
  }
  return fmt::format("{} {}", old_terms[most].name, signed_text(change(most)));
}

ClaimRuling ruling_of(const Claim& claim, double ratio, RatioRange interval) {
  if (contradicts_itself(claim)) {
    return ClaimRuling::kRefuted;
  }
  const bool size_meets = !claim.ratio || meet(*claim.ratio, interval);
  const bool lower = interval.high < 1.0;
  const bool higher = interval.low > 1.0;
  if (claim.direction == Direction::kSame) {
    const bool same = std::abs(ratio - 1.0) <= step::kClaimedSameShare;
    return same              ? size_meets ? ClaimRuling::kHolds : ClaimRuling::kWrongSize
           : lower || higher ? ClaimRuling::kRefuted
                             : ClaimRuling::kCannotTell;
  }
  if (!lower && !higher) {
    return size_meets ? ClaimRuling::kCannotTell : ClaimRuling::kRefuted;
  }
  if (lower != (claim.direction == Direction::kLower)) {
    return ClaimRuling::kRefuted;
  }
  const bool size_holds = size_meets && !(claim.ratio && is_twice_the_effect(*claim.ratio, ratio));
  return size_holds ? ClaimRuling::kHolds : ClaimRuling::kWrongSize;
}

JudgedClaim judged_claim(const Claim& claim, const Sides& sides) {
  if (claim.quantity == Quantity::kFits) {
    return judged_fits(claim, sides);
  }
  Seen seen = is_speed(claim.quantity)              ? seen_speed(sides)
              : claim.quantity == Quantity::kMemory ? seen_memory(sides)
                                                    : seen_term(claim.quantity, sides);
  JudgedClaim judged{.claim = claim, .ratio = seen.ratio, .interval = seen.interval};
  if (is_nothing(claim.quantity, sides)) {
    judged.ruling =
        claim.direction == Direction::kSame ? ClaimRuling::kHolds : ClaimRuling::kRefuted;
  } else if (claim.quantity == Quantity::kMemory) {
    judged.ruling = memory_ruling(claim, seen);
  } else {
    judged.ruling = ruling_of(claim, seen.ratio, seen.interval);
  }
  judged.term = std::move(seen.term);
  judged.why =
      contradicts_itself(claim)
          ? fmt::format("claimed {}, which contradicts itself", words_of(claim))
          : fmt::format("claimed {}; {}: {}, {}, {}", words_of(claim), verb_of(judged.ruling),
                        ratio_words(seen.ratio, seen.interval), seen.figures, judged.term);
  return judged;
}

JudgedClaim untold_claim(const Claim& claim, std::string why) {
  return {.claim = claim,
          .ruling = ClaimRuling::kCannotTell,
          .why = fmt::format("claimed {}; {}", words_of(claim), why)};
}

}  // namespace sextant::verify
