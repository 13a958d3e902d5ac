// The rule book as a page: docs/rules.md is this text.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/rules.h"

namespace sextant::describe {
namespace {

constexpr std::array kSources{
    RuleSource{"Megatron", "Megatron-LM d98e8a64 (Megatron Core 0.20)", "M", 52},
    RuleSource{"torchtitan", "torchtitan b5bcd76c6", "T", 13},
    RuleSource{"DeepSpeed", "DeepSpeed, configuration and pipeline engine", "D", 6},
    RuleSource{"MaxText", "MaxText e591f30", "X", 6},
    RuleSource{"Accelerate", "Accelerate, parallelism_config.py", "A", 4},
    RuleSource{"nanotron", "nanotron, main", "N", 6},
};

bool stands_for(const Rule& rule, std::string_view number) {
  const std::vector<std::string_view> numbers = split(rule.stands_for, ',');
  return std::any_of(numbers.begin(), numbers.end(),
                     [&](std::string_view one) { return trimmed(one) == number; });
}

// Bars separate a table's cells, unless they are escaped.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    escaped += c == '|' ? "\\|" : std::string(1, c);
  }
  return escaped;
}

// The part of "Megatron a.py:1; torchtitan b.py:2" that is about one framework.
std::string enforced_by(const Rule& rule, std::string_view framework) {
  for (const std::string_view part : split(rule.enforced, ';')) {
    const std::string_view own = trimmed(part);
    if (starts_with_word(own, framework) || own.starts_with(framework)) {
      return std::string(trimmed(own.substr(framework.size())));
    }
  }
  return std::string(rule.enforced);
}

std::string requirements(const RuleSource& source) {
  std::string text = fmt::format(
      "## {}\n\nLines are those of {}.\n\n| # | rule | what must hold | where "
      "|\n|---|---|---|---|\n",
      source.framework, source.revision);
  for (std::int64_t i = 1; i <= source.requirements; ++i) {
    const std::string number = fmt::format("{}{}", source.letter, i);
    for (const Rule& rule : rule_book()) {
      if (stands_for(rule, number)) {
        text += fmt::format("| {} | {} | {} | {} |\n", number, rule.id, cell(rule.formula),
                            cell(enforced_by(rule, source.framework)));
      }
    }
  }
  return text + "\n";
}

std::string_view owner_of(const Rule& rule) {
  return rule.framework.empty() ? "any" : rule.framework;
}

}  // namespace

std::span<const RuleSource> rule_sources() {
  return kSources;
}

std::string rules_page() {
  std::string text =
      "# Rules\n\n"
      "Written by `rules_page` of `describe/layout/rules.h`; a test compares. `sextant explain ID` "
      "says why a rule holds and how to mend a job that breaks it.\n\n"
      "Core rules hold anywhere. A framework's own rules are asked for jobs of that framework "
      "only: "
      "about the layout by `describe/layout/framework_rules.h` (the planner asks these too), about "
      "switches, files and the environment by `emit/setting_rules.h`. A broken rule is illegal "
      "(the framework refuses, or the run cannot work), a risk (it starts, but not as asked for) "
      "or "
      "a note.\n\n"
      "The first tables number what each framework checks in its own code and name the rule that "
      "stands for it; one rule may stand for several frameworks. The last table lists every "
      "rule.\n\n";
  for (const RuleSource& source : kSources) {
    text += requirements(source);
  }
  text += "## Every rule\n\n| rule | whose | what | stands for |\n|---|---|---|---|\n";
  for (const Rule& rule : rule_book()) {
    text += fmt::format("| {} | {} | {} | {} |\n", rule.id, owner_of(rule), cell(rule.title),
                        rule.stands_for);
  }
  return text;
}

}  // namespace sextant::describe
