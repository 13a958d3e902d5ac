// Functions of a file, line by line. A function is read once, where it is asked for; what a
// statement does that is not understood makes the names it sets unknown.
#include "emit/python_recipe.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/python_recipe_flatten.h"
#include "emit/python_recipe_tokens.h"
#include "emit/python_recipe_values.h"

namespace sextant::emit {
namespace {

using python::Line;
using python::Names;
using python::Scope;
using python::Token;
using python::TokenKind;
using python::Value;
using Kind = Value::Kind;
using Tokens = std::span<const Token>;

constexpr std::size_t kMostCopied = 200'000;
constexpr int kMostCalls = 32;

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
bool opens_block(std::string_view word) {
  static constexpr std::array<std::string_view, 10> kWords{
      "if", "elif", "else", "for", "while", "with", "try", "except", "finally", "match"};
  return is_one_of(word, kWords);
}
bool changes_nothing(std::string_view word) {
  static constexpr std::array<std::string_view, 9> kWords{
      "assert", "pass", "import", "from", "raise", "global", "nonlocal", "del", "@"};
  return is_one_of(word, kWords);
}

// The first operator of these words outside of brackets; the number of tokens where there is none.
std::size_t find_outside(Tokens tokens, std::span<const std::string_view> words) {
  int depth = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::kOperator) {
      continue;
    }
    const std::string_view text = tokens[i].text;
    if (depth == 0 && is_one_of(text, words)) {
      return i;
    }
    depth += text == "(" || text == "[" || text == "{" ? 1 : 0;
    depth -= text == ")" || text == "]" || text == "}" ? 1 : 0;
  }
  return tokens.size();
}

// "name" or "name.member.member" as its parts; empty for any other target.
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

struct Function {
  std::size_t first = 0;  // its lines
  std::size_t end = 0;
};

class RecipeFile {
 public:
  RecipeFile(std::string_view text, std::string_view name, std::vector<Line> lines)
      : text_(text), name_(name), lines_(std::move(lines)) {}

  Settings settings() {
    read_module();
    Settings settings;
    settings.dialect = Dialect::kTorchtitan;
    const auto recipe = last_recipe();
    if (!recipe) {
      settings.unresolved.push_back({std::string(name_),
                                     "no function here returns a configuration",
                                     {std::string(name_), 0, 0, 0}});
      return settings;
    }
    const auto& [function, config] = *recipe;
    settings.given.push_back({"recipe", {function}, place(config.line)});
    if (!module_.empty()) {
      settings.given.push_back({"model.name", {module_}, place(module_line_)});
    }
    settings.given.insert(settings.given.end(), config.settings.begin(), config.settings.end());
    settings.unresolved = config.unresolved;
    return settings;
  }

 private:
  struct Frame {
    Names names;
    std::optional<Value> returned;
    std::vector<Unresolved> open;
  };

  [[nodiscard]] Place place(std::int64_t line) const { return {std::string(name_), line, 0, 0}; }
  [[nodiscard]] Scope scope(const Frame* frame) {
    return {frame == nullptr ? nullptr : &frame->names, &constants_, &budget_, text_};
  }

  // Step 1. Functions, constants and imports of the module.
  void read_module() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const Line& line = lines_[i];
      const std::string_view word = line.tokens.front().text;
      if (line.indent > 0) {
        forget_targets(line, constants_);
      } else if (word == "def" && line.tokens.size() > 1) {
        std::size_t end = i + 1;
        while (end < lines_.size() && lines_[end].indent > 0) {
          end += 1;
        }
        functions_[std::string(line.tokens[1].text)] = {i, end};
        order_.emplace_back(line.tokens[1].text);
        i = end - 1;
      } else if (word == "class") {
        while (i + 1 < lines_.size() && lines_[i + 1].indent > 0) {
          i += 1;
        }
      } else if (word == "from") {
        read_import(line);
      } else if (!opens_block(word) && !changes_nothing(word)) {
        read_constant(line);
      }
    }
  }

  // "from torchtitan.models.llama3 import model_registry".
  void read_import(const Line& line) {
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
      module_ = std::string(*(models + 1));
      module_line_ = line.tokens.front().line;
    }
  }

  void read_constant(const Line& line) {
    constexpr std::array<std::string_view, 1> kEquals{"="};
    const Tokens tokens(line.tokens);
    const std::size_t equals = find_outside(tokens, kEquals);
    if (equals == tokens.size()) {
      forget_targets(line, constants_);
      return;
    }
    const std::vector<std::string> target = target_of(tokens.first(equals));
    if (target.size() == 1) {
      constants_[target[0]] = python::value_of(tokens.subspan(equals + 1), scope(nullptr));
    } else {
      forget_targets(line, constants_);
    }
  }

  // Names that a statement may change in ways that are not followed.
  static void forget_targets(const Line& line, Names& names) {
    constexpr std::array<std::string_view, 8> kSets{
        "=", "+=", "-=", "*=", "/=", "%=", "//=", "**="};
    const Tokens tokens(line.tokens);
    const std::size_t sets = find_outside(tokens, kSets);
    if (sets == tokens.size()) {
      return;
    }
    for (const Token& token : tokens.first(sets)) {
      if (token.kind == TokenKind::kName) {
        names[std::string(token.text)] =
            python::unknown(std::string(token.text), "is set where it is not followed", token.line);
      }
    }
  }

  // Step 2. The last function that returns a configuration.
  std::optional<std::pair<std::string, Value>> last_recipe() {
    std::optional<std::pair<std::string, Value>> found;
    std::size_t recipes = 0;
    for (auto name = order_.rbegin(); name != order_.rend(); ++name) {
      const Value value = result_of(*name);
      if (value.kind != Kind::kConfig) {
        continue;
      }
      recipes += 1;
      if (!found) {
        found.emplace(*name, value);
      }
      if (*name == order_.front()) {
        break;
      }
    }
    if (found && recipes > 1) {
      found->second.unresolved.push_back(
          {fmt::format("{} recipes", recipes),
           fmt::format("the file holds several; {}, the last, is read", found->first),
           place(found->second.line)});
    }
    return found;
  }

  // What a function returns; unknown where it calls itself or nests too deeply.
  Value result_of(const std::string& name) {
    if (const auto done = results_.find(name); done != results_.end()) {
      return done->second;
    }
    if (calls_ >= kMostCalls) {
      return python::unknown(name, "calls nest too deeply", 0);
    }
    results_[name] = python::unknown(name, "calls itself", 0);
    calls_ += 1;
    Value value = run(functions_.at(name));
    calls_ -= 1;
    results_[name] = value;
    return value;
  }

  Value run(const Function& function) {
    Frame frame;
    const std::size_t first = function.first + 1;
    const std::size_t body = first < function.end ? lines_[first].indent : 0;
    for (std::size_t i = first; i < function.end; ++i) {
      const Line& line = lines_[i];
      const std::string_view word = line.tokens.front().text;
      if (word == "def" || word == "class") {
        while (i + 1 < function.end && lines_[i + 1].indent > line.indent) {
          i += 1;
        }
      } else {
        statement(Tokens(line.tokens), line.indent > body, frame);
      }
    }
    if (!frame.returned) {
      return python::unknown("", "returns nothing", 0);
    }
    Value value = std::move(*frame.returned);
    if (value.kind == Kind::kConfig) {
      value.unresolved.insert(value.unresolved.end(), frame.open.begin(), frame.open.end());
    }
    return value;
  }

  // Step 3. One statement. `maybe`: it stands in a block, and may not happen.
  void statement(Tokens tokens, bool maybe, Frame& frame) {
    constexpr std::array<std::string_view, 1> kColon{":"};
    constexpr std::array<std::string_view, 8> kSets{
        "=", "+=", "-=", "*=", "/=", "%=", "//=", "**="};
    const std::string_view word = tokens.front().text;
    if (tokens.front().kind == TokenKind::kString || changes_nothing(word)) {
      return;
    }
    if (opens_block(word)) {
      const std::size_t colon = find_outside(tokens, kColon);
      if (colon + 1 < tokens.size()) {
        statement(tokens.subspan(colon + 1), true, frame);
      }
      return;
    }
    if (word == "return") {
      give_back(tokens, maybe, frame);
      return;
    }
    const std::size_t sets = find_outside(tokens, kSets);
    if (sets == tokens.size()) {
      unfollowed(tokens, "the call is not run, and may change the configuration", frame);
      return;
    }
    const std::vector<std::string> target = target_of(tokens.first(sets));
    if (target.empty() || maybe || tokens[sets].text != "=") {
      unfollowed(tokens.first(sets),
                 maybe ? "stands in a block that may not run" : "the change is not followed",
                 frame);
      return;
    }
    assign(target, followed(python::value_of(tokens.subspan(sets + 1), scope(&frame)), frame),
           frame);
  }

  void give_back(Tokens tokens, bool maybe, Frame& frame) {
    const Value value =
        as_config(followed(python::value_of(tokens.subspan(1), scope(&frame)), frame));
    if (maybe) {
      frame.open.push_back(
          {"return", "stands in a block that may not run", place(tokens.front().line)});
    }
    if (!maybe || !frame.returned) {
      frame.returned = value;
      frame.returned->line = tokens.front().line;
    }
  }

  // A call of one of the file's own functions gives what that returns.
  Value followed(Value value, Frame& frame) {
    if (value.kind != Kind::kCall || !functions_.contains(value.text)) {
      return value;
    }
    if (!value.items.empty() || !value.keywords.empty()) {
      frame.open.push_back({value.text, "its arguments are not followed", place(value.line)});
    }
    Value result = result_of(value.text);
    const std::size_t weight = budget_ == 0 ? 1 : python::weight_of(result);
    if (weight > budget_) {
      budget_ = 0;
      return python::unknown(value.text, "the file repeats too much of itself", value.line);
    }
    budget_ -= weight;
    result.line = value.line;
    return result;
  }

  // A whole configuration, or the result of a recipe of another file, as settings.
  Value as_config(Value value) {
    if (value.kind != Kind::kCall) {
      return value;
    }
    Value config;
    config.kind = Kind::kConfig;
    config.line = value.line;
    if (python::is_whole_config(value)) {
      for (const auto& [keyword, member] : value.keywords) {
        python::set_member(config, keyword, member, name_);
      }
      return config;
    }
    const std::string last = value.text.substr(value.text.rfind('.') + 1);
    const bool recipe =
        !last.empty() && last.front() >= 'a' && last.front() <= 'z' && last != "model_registry";
    if (!recipe) {
      return value;
    }
    config.settings.push_back({"config", {last}, place(value.line)});
    if (!value.items.empty() || !value.keywords.empty()) {
      config.unresolved.push_back(
          {value.text, "its arguments are not followed", place(value.line)});
    }
    return config;
  }

  void assign(const std::vector<std::string>& target, Value value, Frame& frame) {
    if (target.size() == 1) {
      frame.names[target[0]] = std::move(value);
      return;
    }
    const auto found = frame.names.find(target[0]);
    if (found == frame.names.end()) {
      return;  // an attribute of something that is no configuration
    }
    Value& holder = found->second;
    holder = as_config(std::move(holder));
    if (holder.kind == Kind::kConfig) {
      std::string member = target[1];
      for (std::size_t i = 2; i < target.size(); ++i) {
        member += "." + target[i];
      }
      python::set_member(holder, member, value, name_);
    } else if (holder.kind == Kind::kCall && target.size() == 2) {
      std::erase_if(holder.keywords, [&](const auto& pair) { return pair.first == target[1]; });
      holder.keywords.push_back({target[1], std::move(value)});
    } else {
      holder = python::unknown(target[0], "is changed where it is not followed", value.line);
    }
  }

  // A statement that is not understood: what it names is no longer known for sure.
  void unfollowed(Tokens tokens, const std::string& why, Frame& frame) {
    constexpr std::size_t kMostOpen = 1000;
    for (const Token& token : tokens) {
      const auto found =
          token.kind == TokenKind::kName ? frame.names.find(token.text) : frame.names.end();
      if (found == frame.names.end() || frame.open.size() >= kMostOpen) {
        continue;
      }
      const Token& last = tokens.back();
      const std::size_t start = tokens.front().offset;
      frame.open.push_back({printable(text_.substr(start, last.offset + last.text.size() - start)),
                            why, place(token.line)});
      const bool config = found->second.kind == Kind::kConfig || found->second.kind == Kind::kCall;
      if (!config) {
        found->second = python::unknown(found->first, why, token.line);
      }
      return;
    }
  }

  std::string_view text_;
  std::string_view name_;
  std::vector<Line> lines_;
  Names constants_;
  std::map<std::string, Function, std::less<>> functions_;
  std::vector<std::string> order_;
  std::map<std::string, Value, std::less<>> results_;
  std::string module_;
  std::int64_t module_line_ = 0;
  std::size_t budget_ = kMostCopied;
  int calls_ = 0;
};

}  // namespace

Result<Settings> parse_python_recipe(std::string_view text, std::string_view name) {
  SEXTANT_TRY(std::vector<Line> lines, python::lines_of(text, name));
  return RecipeFile(text, name, std::move(lines)).settings();
}

}  // namespace sextant::emit
