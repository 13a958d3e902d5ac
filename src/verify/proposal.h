// A proposal: one change to a job, what it is claimed to do, and what that rests on. Whoever makes
// one (the built-in reasoner, a person, a language model) is believed in nothing: judge.h decides.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "describe/words.h"
#include "step/quantity.h"

namespace sextant::verify {

// One quantity of the job, against the job as it stands. No ratio: the size is left open.
struct Claim {
  step::Quantity quantity = step::Quantity::kStep;
  step::Direction direction = step::Direction::kLower;
  std::optional<step::RatioRange> ratio = {};  // after over before
  bool operator==(const Claim&) const = default;
};

// What a citation points at.
enum class Cited : std::uint8_t {
  kEntry,    // of the knowledge base, by id
  kFinding,  // of this run's diagnosis, by its rule
  kRule,     // of the book of layout rules, by id
  kModel,    // what the model itself says: needs nothing beside it
};
inline constexpr std::array<describe::Word<Cited>, 4> kCitedWords{{{Cited::kEntry, "kb"},
                                                                   {Cited::kFinding, "finding"},
                                                                   {Cited::kRule, "rule"},
                                                                   {Cited::kModel, "model"}}};

struct Citation {
  Cited kind = Cited::kEntry;
  std::string id = {};
  // What it is cited for; nothing: that the change is a known one.
  std::optional<Claim> supports = {};
  bool operator==(const Citation&) const = default;
};

struct Change {
  // Layout keys that change, as a layout is typed: "tp=4,recompute=none"; a JAX mesh before them
  // ("ici:fsdp=16,tensor=8;mbs=2"). The others stay as the job has them (describe::lay_over).
  // "": no layout key.
  std::string layout = {};
  std::string setting = {};  // in the framework's words, where no key says it: "--num-workers 8"
  std::string mends = {};    // the finding (its rule) that such a setting is to mend; "": none
  bool operator==(const Change&) const = default;
};

// Why, for people; each a sentence or two.
struct Reasoning {
  std::string bottleneck = {};  // how it answers what holds the job up
  std::string memory = {};
  std::string comparison = {};  // against the job as it stands
  bool operator==(const Reasoning&) const = default;
};

struct Proposal {
  std::string title = {};
  Change change = {};
  std::optional<std::int64_t> devices = {};  // that it says it runs on; nothing: the job's
  Reasoning reasoning = {};
  std::vector<Claim> claims = {};
  std::vector<Citation> citations = {};
  std::vector<std::string> trade_offs = {};
  std::string author = {};  // "built-in", "user", "model NAME"
  bool operator==(const Proposal&) const = default;
};

}  // namespace sextant::verify
