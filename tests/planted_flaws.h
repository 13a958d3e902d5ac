// One flaw planted in a sound proposal, and what the judge must say of it. Only tests include this.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "sound_proposals.h"

namespace sextant::tests {

enum class Flaw : std::uint8_t {
  kIllegal,
  kDoesNotFit,
  kWrongDirection,
  kWrongSize,
  kNoSuchCitation,
  kSaysOtherwise,
  kWrongChips,
};
inline constexpr std::array<describe::Word<Flaw>, 7> kFlawWords{
    {{Flaw::kIllegal, "illegal"},
     {Flaw::kDoesNotFit, "does not fit"},
     {Flaw::kWrongDirection, "wrong direction"},
     {Flaw::kWrongSize, "wrong size"},
     {Flaw::kNoSuchCitation, "citation that does not exist"},
     {Flaw::kSaysOtherwise, "citation that does not say it"},
     {Flaw::kWrongChips, "wrong number of chips"}}};

struct PlantedFlaw {
  Flaw flaw = Flaw::kIllegal;
  std::string what;   // "1 GiB over"
  bool near = false;  // a near miss
  std::shared_ptr<const search::Task> task;
  verify::Proposal proposal;
  // What must be said.
  verify::Ruling ruling = verify::Ruling::kRejected;
  verify::Ground ground = verify::Ground::kRules;
  std::string rule = {};                  // among those broken: how its name ends
  std::optional<std::size_t> claim = {};  // that does not hold
  verify::ClaimRuling claim_ruling = verify::ClaimRuling::kHolds;
  std::optional<std::size_t> citation = {};  // that is struck
  std::optional<Bytes> over = {};            // what is missing of memory
};

// Nothing: such a flaw cannot be planted there.
std::optional<PlantedFlaw> planted(Flaw flaw, const SoundProposal& sound, std::mt19937& random);

// The same proposal, with so much memory to spare on its fullest device (below zero: too little).
std::shared_ptr<const search::Task> with_room(const SoundProposal& sound, Bytes room);

}  // namespace sextant::tests
