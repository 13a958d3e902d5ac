#include "agents/llm_tools.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "base/text_pages.h"
#include "describe/json_value.h"
#include "kb/entry_says.h"
#include "step/step_answer.h"

namespace sextant::agents {
namespace {

constexpr std::size_t kMostRows = 10;
constexpr std::size_t kUsualRows = 5;
constexpr std::size_t kLongestWord = 2000;
constexpr std::size_t kCommandPage = 10000;  // bytes of an answer's text that are told at once
constexpr std::int64_t kMostPages = 1000;
constexpr const char* kArgumentsPlace = "the tool's arguments";

Result<describe::JsonValue> arguments_of(const std::string& text,
                                         std::span<const std::string_view> known) {
  SEXTANT_TRY(describe::JsonValue object,
              describe::JsonValue::parse(text.empty() ? "{}" : text, kArgumentsPlace));
  if (object.kind() != describe::JsonValue::Kind::kObject) {
    return invalid("this is no object", kArgumentsPlace, "{…}");
  }
  for (const std::string& key : object.keys()) {
    if (std::ranges::find(known, key) == known.end()) {
      return invalid(fmt::format("'{}' is no argument", printable(key)), kArgumentsPlace,
                     fmt::format("{}", fmt::join(known, ", ")));
    }
  }
  return object;
}

Result<std::string> text_argument(const describe::JsonValue& object, std::string_view key) {
  const auto member = object.member(key);
  if (!member) {
    return invalid(fmt::format("'{}' is missing", key), kArgumentsPlace);
  }
  SEXTANT_TRY(const std::string text, member->text());
  return text.substr(0, kLongestWord);
}

Result<std::size_t> count_argument(const describe::JsonValue& object, std::string_view key) {
  const auto member = object.member(key);
  if (!member) {
    return kUsualRows;
  }
  SEXTANT_TRY(const std::int64_t count, member->integer(1, kMostRows));
  return static_cast<std::size_t>(count);
}

std::string step_line(const step::Estimate& estimate) {
  std::string text = fmt::format("step {} ({} … {})", to_text(estimate.step.step),
                                 to_text(estimate.low()), to_text(estimate.high()));
  for (const step::StepTerm& term : step::step_terms(estimate.step)) {
    if (term.time > Seconds()) {
      text += fmt::format(", {} {}", term.name, to_text(term.time));
    }
  }
  return text + fmt::format("; fullest device {} of {}{}", to_text(estimate.memory.fullest.device),
                            to_text(estimate.memory.available),
                            estimate.memory.fits() ? "" : ", does not fit");
}

}  // namespace

bool LlmTools::offers(std::string_view name) const {
  return (name == "search" && tools_.search) || (name == "plan" && tools_.plan) ||
         (name == "path" && tools_.path && tools_.plan) ||
         (name == "estimate" && tools_.estimate) ||
         (!commands_.list.empty() && (name == "command" || name == "command_help"));
}

std::string LlmTools::command_lines() const {
  std::string text;
  for (const LlmCommand& one : commands_.list) {
    text += fmt::format("{}: {}\n", one.name, one.what);
  }
  return text;
}

Result<std::string> LlmTools::called(const std::string& name, const std::string& arguments) {
  if (!offers(name)) {
    return invalid(fmt::format("'{}' is no tool here", printable(name)));
  }
  if (name == "search") {
    return search(arguments);
  }
  if (name == "plan") {
    return plan(arguments);
  }
  if (name == "command") {
    return command(arguments);
  }
  if (name == "command_help") {
    return command_help(arguments);
  }
  return name == "path" ? path(arguments) : estimate(arguments);
}

Result<std::string> LlmTools::search(const std::string& arguments) {
  static constexpr std::array<std::string_view, 2> kKnown{"words", "limit"};
  SEXTANT_TRY(const auto object, arguments_of(arguments, kKnown));
  kb::Question question;
  SEXTANT_TRY(question.words, text_argument(object, "words"));
  SEXTANT_TRY(question.limit, count_argument(object, "limit"));
  SEXTANT_TRY(const std::vector<kb::Entry> entries, noted_.search(question));
  std::string text;
  for (const kb::Entry& entry : entries) {
    const auto effect = kb::effect_of(entry);
    text += fmt::format("- {} ({}{}): {}. {}{}{}\n", entry.id,
                        describe::word_of<kb::EntryKind>(kb::kEntryKindWords, entry.kind),
                        entry.do_not ? ", a warning" : "", printable(entry.title, 200),
                        printable(entry.advice, 400),
                        effect ? " Effect: " + kb::expectation_text(*effect) + "." : "",
                        entry.after.empty() ? "" : " Change: " + printable(entry.after, 200));
  }
  return text.empty() ? "nothing is known about that" : text;
}

Result<void> LlmTools::fill_plan(std::size_t most) {
  if (rows_.size() < most) {
    SEXTANT_TRY(rows_, noted_.plan(most));
  }
  return {};
}

Result<std::string> LlmTools::plan(const std::string& arguments) {
  static constexpr std::array<std::string_view, 1> kKnown{"most"};
  SEXTANT_TRY(const auto object, arguments_of(arguments, kKnown));
  SEXTANT_TRY(const std::size_t most, count_argument(object, "most"));
  SEXTANT_CHECK_OK(fill_plan(most));
  std::string text;
  for (std::size_t i = 0; i < std::min(most, rows_.size()); ++i) {
    text += fmt::format("{}. {}: {}\n", i + 1, rows_[i].words, step_line(rows_[i].result));
  }
  return text.empty() ? "no legal layout fits" : text;
}

Result<std::string> LlmTools::path(const std::string& arguments) {
  static constexpr std::array<std::string_view, 1> kKnown{"plan"};
  SEXTANT_TRY(const auto object, arguments_of(arguments, kKnown));
  if (!object.member("plan")) {
    return invalid("'plan' is missing", kArgumentsPlace);
  }
  SEXTANT_TRY(const std::size_t number, count_argument(object, "plan"));
  SEXTANT_CHECK_OK(fill_plan(number));
  if (number > rows_.size()) {
    return invalid(fmt::format("the planner has {} layouts", rows_.size()), kArgumentsPlace);
  }
  SEXTANT_TRY(const auto path, noted_.path(rows_[number - 1].layout));
  std::string text;
  if (path) {
    for (const search::PlanStep& step : path->steps) {
      text +=
          fmt::format("- {}: {} to {}\n", step.change, to_text(step.before), to_text(step.after));
    }
  }
  return text.empty() ? "no change on the way there is worth making" : text;
}

Result<std::string> LlmTools::estimate(const std::string& arguments) {
  static constexpr std::array<std::string_view, 1> kKnown{"layout"};
  SEXTANT_TRY(const auto object, arguments_of(arguments, kKnown));
  SEXTANT_TRY(const std::string layout, text_argument(object, "layout"));
  SEXTANT_TRY(const auto estimate, noted_.estimate(layout));
  return estimate ? step_line(*estimate) : std::string("not known");
}

Result<std::string> LlmTools::command(const std::string& arguments) {
  static constexpr std::array<std::string_view, 3> kKnown{"name", "arguments", "page"};
  SEXTANT_TRY(const auto object, arguments_of(arguments, kKnown));
  SEXTANT_TRY(const std::string name, text_argument(object, "name"));
  std::string given = "{}";
  if (const auto member = object.member("arguments")) {
    // An object, or, as some models have it, its text.
    given = member->kind() == describe::JsonValue::Kind::kString ? *member->text() : member->json();
  }
  std::int64_t page = 1;
  if (const auto member = object.member("page")) {
    SEXTANT_TRY(page, member->integer(1, kMostPages));
  }
  const std::string asked = name + " " + given;
  if (page == 1 || asked != last_command_) {
    SEXTANT_TRY(last_text_, commands_.run(name, given));
    last_command_ = asked;
  }
  const TextPage found = page_of(last_text_, static_cast<std::size_t>(page), kCommandPage);
  if (static_cast<std::size_t>(page) > found.of) {
    return invalid(fmt::format("the answer has {} pages", found.of), kArgumentsPlace);
  }
  return found.of == 1 ? found.text
                       : fmt::format("{}(page {} of {})\n", found.text, page, found.of);
}

Result<std::string> LlmTools::command_help(const std::string& arguments) const {
  static constexpr std::array<std::string_view, 1> kKnown{"name"};
  SEXTANT_TRY(const auto object, arguments_of(arguments, kKnown));
  SEXTANT_TRY(const std::string name, text_argument(object, "name"));
  return commands_.help(name);
}

}  // namespace sextant::agents
