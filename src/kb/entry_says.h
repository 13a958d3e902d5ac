// What an entry says a change does, as a value; and which layout keys it speaks of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kb/entry.h"
#include "kb/practice.h"

namespace sextant::kb {

// "step lower, x0.7 to x0.85", and back.
std::string expectation_text(const Expects& expects);
Result<Expects> parse_expectation(std::string_view text);

// Of the change from `before` to `after`: a practice's expectation (of one to stay away from: the
// harm), a win's measurement. Nothing: it says none that is known here.
std::optional<Expects> effect_of(const Entry& entry);

// What a change of a layout key is of, a word of kChangeWords ("sp": "tp"); "": no such key.
std::string_view change_of_key(std::string_view key);
// The same of a theme: what changes it is about.
std::vector<std::string_view> changes_of(Theme theme);

// A layout key of an entry's `before` and `after`, with its values as they are written there; axes
// of a mesh as the keys they are ("tensor": tp; data, fsdp and replica: dp).
struct NamedKey {
  std::string key;
  std::string before;  // "": not named
  std::string after;
};
// Those whose value differs, by key.
std::vector<NamedKey> changed_keys(const Entry& entry);

}  // namespace sextant::kb
