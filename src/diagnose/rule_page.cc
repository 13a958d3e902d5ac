#include "diagnose/rule_page.h"

#include <fmt/format.h>

namespace sextant::diagnose {
namespace {

constexpr std::string_view kPageHead =
    "# What a diagnosis finds\n\n"
    "Written by `findings_page` of `src/diagnose/rule_page.h` from `data/diagnose/`; a test "
    "compares. How findings are read, and how to fail where a rule finds something: "
    "[diagnose.md](diagnose.md). `explain` says of one rule what stands here.\n";

// Cells hold no bar.
std::string table_cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, "\\");
  }
  return text;
}

std::string settings_cell(const Advice& advice) {
  std::string text;
  for (const Setting& setting : advice.settings) {
    text += fmt::format("{}{}: `{}`", text.empty() ? "" : "<br>", setting.framework, setting.text);
  }
  return table_cell(std::move(text));
}

std::string rule_section(const Rule& rule) {
  std::string text = fmt::format("\n## {}: {}\n\n{}\n\nAsks for: {}.\n\n", rule.id, rule.title,
                                 rule.meaning, rule.record);
  text += "| advice | what | settings | source |\n|---|---|---|---|\n";
  for (const Advice& advice : rule.advice) {
    text += fmt::format("| {} | {} | {} | <{}> |\n", advice.id, table_cell(advice.what),
                        settings_cell(advice), advice.source);
  }
  return text;
}

}  // namespace

std::string findings_page(const RuleBook& book) {
  std::string text(kPageHead);
  text += fmt::format("\n{} rules.\n", book.rules().size());
  for (const Rule& rule : book.rules()) {
    text += rule_section(rule);
  }
  return text;
}

}  // namespace sextant::diagnose
