// Functions of a file, line by line. A function is read once, where it is asked for; what a
// statement does that is not understood makes the names it sets unknown.
#include "emit/python_recipe.h"

#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/python_recipe_flatten.h"
#include "emit/python_recipe_module.h"
#include "emit/python_recipe_tokens.h"
#include "emit/python_recipe_values.h"

namespace sextant::emit::python {
namespace {

constexpr std::size_t kMostCopied = 200'000;
constexpr int kMostCalls = 32;

class RecipeFile {
 public:
  RecipeFile(std::string_view text, std::string_view name, std::vector<Line> lines)
      : text_(text),
        name_(name),
        lines_(std::move(lines)),
        module_(module_of(lines_, text, budget_)) {}

  Settings settings() {
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
    if (!module_.model.empty()) {
      settings.given.push_back({"model.name", {module_.model}, place(module_.model_line)});
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
    return {frame == nullptr ? nullptr : &frame->names, &module_.constants, &budget_, text_};
  }

  // Step 1. The last function that returns a configuration.
  std::optional<std::pair<std::string, Value>> last_recipe() {
    std::optional<std::pair<std::string, Value>> found;
    std::size_t recipes = 0;
    for (auto name = module_.order.rbegin(); name != module_.order.rend(); ++name) {
      const Value value = result_of(*name);
      if (value.kind != Value::Kind::kConfig) {
        continue;
      }
      recipes += 1;
      if (!found) {
        found.emplace(*name, value);
      }
      if (*name == module_.order.front()) {
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
      return unknown(name, "calls nest too deeply", 0);
    }
    results_[name] = unknown(name, "calls itself", 0);
    calls_ += 1;
    Value value = run(module_.functions.at(name));
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
      return unknown("", "returns nothing", 0);
    }
    Value value = std::move(*frame.returned);
    if (value.kind == Value::Kind::kConfig) {
      value.unresolved.insert(value.unresolved.end(), frame.open.begin(), frame.open.end());
    }
    return value;
  }

  // Step 2. One statement. `maybe`: it stands in a block, and may not happen.
  void statement(Tokens tokens, bool maybe, Frame& frame) {
    constexpr std::array<std::string_view, 1> kColon{":"};
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
    const std::size_t sets = find_outside(tokens, kSettingSymbols);
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
    assign(target, followed(value_of(tokens.subspan(sets + 1), scope(&frame)), frame), frame);
  }

  void give_back(Tokens tokens, bool maybe, Frame& frame) {
    const Value value = as_config(followed(value_of(tokens.subspan(1), scope(&frame)), frame));
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
    if (value.kind != Value::Kind::kCall || !module_.functions.contains(value.text)) {
      return value;
    }
    if (!value.items.empty() || !value.keywords.empty()) {
      frame.open.push_back({value.text, "its arguments are not followed", place(value.line)});
    }
    Value result = result_of(value.text);
    const std::size_t weight = budget_ == 0 ? 1 : weight_of(result);
    if (weight > budget_) {
      budget_ = 0;
      return unknown(value.text, "the file repeats too much of itself", value.line);
    }
    budget_ -= weight;
    result.line = value.line;
    return result;
  }

  // A whole configuration, or the result of a recipe of another file, as settings.
  Value as_config(Value value) {
    if (value.kind != Value::Kind::kCall) {
      return value;
    }
    Value config;
    config.kind = Value::Kind::kConfig;
    config.line = value.line;
    if (is_whole_config(value)) {
      for (const auto& [keyword, member] : value.keywords) {
        set_member(config, keyword, member, name_);
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
    if (holder.kind == Value::Kind::kConfig) {
      std::string member = target[1];
      for (std::size_t i = 2; i < target.size(); ++i) {
        member += "." + target[i];
      }
      set_member(holder, member, value, name_);
    } else if (holder.kind == Value::Kind::kCall && target.size() == 2) {
      std::erase_if(holder.keywords, [&](const auto& pair) { return pair.first == target[1]; });
      holder.keywords.push_back({target[1], std::move(value)});
    } else {
      holder = unknown(target[0], "is changed where it is not followed", value.line);
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
      const bool config =
          found->second.kind == Value::Kind::kConfig || found->second.kind == Value::Kind::kCall;
      if (!config) {
        found->second = unknown(found->first, why, token.line);
      }
      return;
    }
  }

  std::string_view text_;
  std::string_view name_;
  std::vector<Line> lines_;
  std::size_t budget_ = kMostCopied;
  Module module_;
  std::map<std::string, Value, std::less<>> results_;
  int calls_ = 0;
};

}  // namespace
}  // namespace sextant::emit::python

namespace sextant::emit {

Result<Settings> parse_python_recipe(std::string_view text, std::string_view name) {
  SEXTANT_TRY(std::vector<python::Line> lines, python::lines_of(text, name));
  return python::RecipeFile(text, name, std::move(lines)).settings();
}

}  // namespace sextant::emit
