#include "emit/python_recipe_module.h"

#include <algorithm>

namespace sextant::emit::python {
namespace {

bool is_among(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// "from torchtitan.models.llama3 import model_registry".
void read_import(const Line& line, Module& module) {
  std::vector<std::string_view> path;
  bool registry = false;
  bool imports = false;
  for (std::size_t i = 1; i < line.tokens.size(); ++i) {
    const Token& token = line.tokens[i];
    imports = imports || token.text == "import";
    registry = registry || (imports && token.text == "model_registry");
    if (!imports && token.kind == TokenKind::kName) {
      path.push_back(token.text);
    }
  }
  const auto models = std::find(path.begin(), path.end(), "models");
  if (registry && models != path.end() && models + 1 != path.end()) {
    module.model = std::string(*(models + 1));
    module.model_line = line.tokens.front().line;
  }
}

// Names that a statement may change in ways that are not followed.
void forget_targets(const Line& line, Names& names) {
  const Tokens tokens(line.tokens);
  const std::size_t sets = find_outside(tokens, kSettingSymbols);
  if (sets == tokens.size()) {
    return;
  }
  for (const Token& token : tokens.first(sets)) {
    if (token.kind == TokenKind::kName) {
      names[std::string(token.text)] =
          unknown(std::string(token.text), "is set where it is not followed", token.line);
    }
  }
}

void read_constant(const Line& line, const Scope& scope, Module& module) {
  constexpr std::array<std::string_view, 1> kEquals{"="};
  const Tokens tokens(line.tokens);
  const std::size_t equals = find_outside(tokens, kEquals);
  if (equals == tokens.size()) {
    forget_targets(line, module.constants);
    return;
  }
  const std::vector<std::string> target = target_of(tokens.first(equals));
  if (target.size() == 1) {
    module.constants[target[0]] = value_of(tokens.subspan(equals + 1), scope);
  } else {
    forget_targets(line, module.constants);
  }
}

}  // namespace

bool opens_block(std::string_view word) {
  static constexpr std::array<std::string_view, 10> kWords{
      "if", "elif", "else", "for", "while", "with", "try", "except", "finally", "match"};
  return is_among(word, kWords);
}
bool changes_nothing(std::string_view word) {
  static constexpr std::array<std::string_view, 9> kWords{
      "assert", "pass", "import", "from", "raise", "global", "nonlocal", "del", "@"};
  return is_among(word, kWords);
}

std::size_t find_outside(Tokens tokens, std::span<const std::string_view> words) {
  int depth = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::kOperator) {
      continue;
    }
    const std::string_view text = tokens[i].text;
    if (depth == 0 && is_among(text, words)) {
      return i;
    }
    depth += text == "(" || text == "[" || text == "{" ? 1 : 0;
    depth -= text == ")" || text == "]" || text == "}" ? 1 : 0;
  }
  return tokens.size();
}

std::vector<std::string> target_of(Tokens tokens) {
  constexpr std::array<std::string_view, 1> kColon{":"};
  tokens = tokens.first(find_outside(tokens, kColon));  // an annotation
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool name = i % 2 == 0;
    if ((name && tokens[i].kind != TokenKind::kName) || (!name && tokens[i].text != ".")) {
      return {};
    }
    if (name) {
      parts.emplace_back(tokens[i].text);
    }
  }
  return tokens.size() % 2 == 1 ? parts : std::vector<std::string>();
}

Module module_of(std::span<const Line> lines, std::string_view text, std::size_t& budget) {
  Module module;
  const Scope scope{nullptr, &module.constants, &budget, text};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const std::string_view word = line.tokens.front().text;
    if (line.indent > 0) {
      forget_targets(line, module.constants);
    } else if (word == "def" && line.tokens.size() > 1) {
      std::size_t end = i + 1;
      while (end < lines.size() && lines[end].indent > 0) {
        end += 1;
      }
      module.functions[std::string(line.tokens[1].text)] = {i, end};
      module.order.emplace_back(line.tokens[1].text);
      i = end - 1;
    } else if (word == "class") {
      while (i + 1 < lines.size() && lines[i + 1].indent > 0) {
        i += 1;
      }
    } else if (word == "from") {
      read_import(line, module);
    } else if (!opens_block(word) && !changes_nothing(word)) {
      read_constant(line, scope, module);
    }
  }
  return module;
}

}  // namespace sextant::emit::python
