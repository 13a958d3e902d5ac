// Python expressions as values, without running anything: literals, lists, calls by name, and
// arithmetic on numbers. Everything else is an unknown that keeps its text.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emit/python_recipe_tokens.h"
#include "emit/settings.h"

namespace sextant::emit::python {

struct Keyword;

struct Value {
  enum class Kind { kNone, kBool, kNumber, kText, kList, kCall, kConfig, kUnknown };
  Kind kind = Kind::kUnknown;
  std::string text;               // a literal's value, a call's dotted name, an unknown's source
  std::string why;                // unknown: what stands in the way
  std::vector<Value> items;       // a list's, or a call's by position
  std::vector<Keyword> keywords;  // a call's
  std::vector<Setting> settings;  // a configuration's
  std::vector<Unresolved> unresolved;  // and what it leaves open
  std::int64_t line = 0;
  std::size_t offset = 0;
  std::size_t length = 0;  // of the literal, quotes included; 0: there is none
};

// "first=second".
struct Keyword {
  std::string first;
  Value second;
};

Value unknown(std::string text, std::string why, std::int64_t line);

// How many values and settings there are in it.
std::size_t weight_of(const Value& value);

using Names = std::map<std::string, Value, std::less<>>;

// Where names are looked up, innermost first, and how many values may still be copied out of them.
struct Scope {
  const Names* inner = nullptr;
  const Names* outer = nullptr;
  std::size_t* budget = nullptr;
  std::string_view file;  // the text that the tokens point into

  // A copy of the name's value; unknown where there is none or the budget is spent.
  [[nodiscard]] Value look_up(std::string_view name, std::int64_t line) const;
};

// The value of all tokens together.
Value value_of(std::span<const Token> tokens, const Scope& scope);

}  // namespace sextant::emit::python
