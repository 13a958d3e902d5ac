// What the judge says of a proposal, with the term or the rule that decides.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost/memory/fit.h"
#include "describe/layout/layout.h"
#include "describe/layout/rules.h"
#include "describe/words.h"
#include "step/difference.h"
#include "step/step_answer.h"
#include "verify/proposal.h"

namespace sextant::verify {

enum class Ruling : std::uint8_t {
  kAccepted,
  kCorrected,    // sound, but something it says is put right: a size, a citation
  kRejected,     // illegal, does not fit, or a claim that the model refutes
  kUndecidable,  // something that decides it is not known: `missing`
};
inline constexpr std::array<describe::Word<Ruling>, 4> kRulingWords{
    {{Ruling::kAccepted, "accepted"},
     {Ruling::kCorrected, "accepted with corrections"},
     {Ruling::kRejected, "rejected"},
     {Ruling::kUndecidable, "undecidable"}}};

enum class ClaimRuling : std::uint8_t {
  kHolds,
  kWrongSize,   // the direction holds, the size does not
  kRefuted,     // the model says the contrary
  kCannotTell,  // the interval holds both
};
inline constexpr std::array<describe::Word<ClaimRuling>, 4> kClaimRulingWords{
    {{ClaimRuling::kHolds, "holds"},
     {ClaimRuling::kWrongSize, "wrong size"},
     {ClaimRuling::kRefuted, "refuted"},
     {ClaimRuling::kCannotTell, "cannot be told"}}};

struct JudgedClaim {
  Claim claim;
  ClaimRuling ruling = ClaimRuling::kCannotTell;
  double ratio = 1.0;         // after over before, as the model has it
  kb::RatioRange interval{};  // of the difference; of memory and fits: the ratio itself
  std::string term = {};      // that moves it most: "exposed tp −41.2 ms"
  std::string why = {};       // one sentence with the figures
};

struct JudgedCitation {
  Citation citation;
  bool stands = false;
  std::string why = {};  // where it is struck
};

struct Verdict {
  Ruling ruling = Ruling::kUndecidable;
  std::string reason = {};  // one sentence: what decided
  std::vector<describe::Violation> broken = {};
  std::optional<cost::MemoryRejection> memory = {};
  std::vector<std::string> missing = {};  // what would have to be known
  std::vector<JudgedClaim> claims = {};
  std::vector<JudgedCitation> citations = {};
  // Where the change is one of the layout, and could be priced.
  std::optional<describe::Layout> layout = {};
  std::optional<step::Estimate> before = {};
  std::optional<step::Estimate> after = {};
  std::optional<step::Difference> speed = {};
};

}  // namespace sextant::verify
