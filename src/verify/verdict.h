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
  kCorrected,    // sound, but something it says is put right: a size, a citation, a side claim
  kRejected,     // illegal, does not fit, or a claim that the model refutes
  kUndecidable,  // something that decides it is not known: `missing`
};
inline constexpr std::array<describe::Word<Ruling>, 4> kRulingWords{
    {{Ruling::kAccepted, "accepted"},
     {Ruling::kCorrected, "accepted with corrections"},
     {Ruling::kRejected, "rejected"},
     {Ruling::kUndecidable, "undecidable"}}};

// What of the proposal the ruling rests on: where the judgement ended.
enum class Ground : std::uint8_t {
  kWords,      // the change does not parse, or changes nothing
  kDevices,    // another number of devices than the job has
  kRules,      // `broken`, or `broken_already`
  kMemory,     // `memory`, or that nobody knows what it needs
  kFinding,    // of a setting: what it is to mend
  kClaims,     // `claims`
  kCitations,  // `citations`: all else holds
  kNothing,    // nothing speaks against it
};
inline constexpr std::array<describe::Word<Ground>, 8> kGroundWords{
    {{Ground::kWords, "words"},
     {Ground::kDevices, "devices"},
     {Ground::kRules, "rules"},
     {Ground::kMemory, "memory"},
     {Ground::kFinding, "finding"},
     {Ground::kClaims, "claims"},
     {Ground::kCitations, "citations"},
     {Ground::kNothing, "nothing"}}};

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
  double ratio = 1.0;           // after over before, as the model has it
  step::RatioRange interval{};  // of the difference; of fits: the ratio itself
  std::string term = {};        // that moves it most: "exposed tp −41.2 ms"
  std::string why = {};         // one sentence with the figures
};

struct JudgedCitation {
  Citation citation;
  bool stands = false;
  std::string why = {};  // what it says; or why it is struck
};

struct Verdict {
  Ruling ruling = Ruling::kUndecidable;
  Ground ground = Ground::kNothing;
  std::string reason = {};  // one sentence: what decided
  std::vector<describe::Violation> broken = {};
  // Rules that the job breaks as it stands and would break then: not the change's doing.
  std::vector<describe::Violation> broken_already = {};
  std::optional<cost::MemoryRejection> memory = {};
  std::vector<std::string> missing = {};  // what would have to be known
  std::vector<JudgedClaim> claims = {};
  std::vector<JudgedCitation> citations = {};
  // Where the change is one of the layout, and could be priced.
  std::optional<describe::Layout> layout = {};
  std::optional<step::Estimate> before = {};
  std::optional<step::Estimate> after = {};
  std::optional<step::Difference> speed = {};

  // May it be advised?
  [[nodiscard]] bool stands() const {
    return ruling == Ruling::kAccepted || ruling == Ruling::kCorrected;
  }
};

}  // namespace sextant::verify
