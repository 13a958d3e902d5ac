// What a Python file holds before any of its functions is read: their lines, constants, imports;
// and the shapes of statements that both have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emit/python_recipe_tokens.h"
#include "emit/python_recipe_values.h"

namespace sextant::emit::python {

using Tokens = std::span<const Token>;

struct Function {
  std::size_t first = 0;  // its lines
  std::size_t end = 0;
};

struct Module {
  Names constants;
  std::map<std::string, Function, std::less<>> functions;
  std::vector<std::string> order;  // of the functions
  // The model whose registry is imported: "llama3" of "from torchtitan.models.llama3 import
  // model_registry"; empty where there is none.
  std::string model;
  std::int64_t model_line = 0;
};
// `budget`: as Scope's.
Module module_of(std::span<const Line> lines, std::string_view text, std::size_t& budget);

// Words a statement begins with.
bool opens_block(std::string_view word);
bool changes_nothing(std::string_view word);

// What sets a name.
inline constexpr std::array<std::string_view, 8> kSettingSymbols{
    "=", "+=", "-=", "*=", "/=", "%=", "//=", "**="};
// The first operator of these words outside of brackets; the number of tokens where there is none.
std::size_t find_outside(Tokens tokens, std::span<const std::string_view> words);
// "name" or "name.member.member" as its parts; empty for any other target.
std::vector<std::string> target_of(Tokens tokens);

}  // namespace sextant::emit::python
