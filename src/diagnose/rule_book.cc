#include "diagnose/rule_book.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include <fmt/format.h>

#include "describe/toml_table.h"

namespace sextant::diagnose {
namespace {

using describe::TomlTable;

constexpr std::string_view kRuleFolder = "diagnose";
constexpr std::array<std::string_view, 4> kRuleKeys{"title", "meaning", "record", "advice"};
// Frameworks and tools whose settings advice may name, beside what every advice has.
constexpr std::array<std::string_view, 9> kSpeakers{"pytorch",   "megatron-core", "torchtitan",
                                                    "deepspeed", "maxtext",       "accelerate",
                                                    "nanotron",  "xla",           "nccl"};

Result<Advice> read_advice(const TomlTable& table, const std::string& id) {
  std::vector<std::string_view> allowed{"what", "source", "mends"};
  allowed.insert(allowed.end(), kSpeakers.begin(), kSpeakers.end());
  SEXTANT_CHECK_OK(table.only(allowed));
  Advice advice{.id = id, .what = {}, .settings = {}, .source = {}};
  SEXTANT_TRY(advice.what, table.text("what"));
  SEXTANT_TRY(advice.source, table.text("source"));
  if (table.has("mends")) {
    SEXTANT_TRY(advice.mends, table.boolean("mends"));
  }
  for (const std::string_view speaker : kSpeakers) {
    if (table.has(speaker)) {
      SEXTANT_TRY(std::string text, table.text(speaker));
      advice.settings.push_back({std::string(speaker), std::move(text)});
    }
  }
  return advice;
}

Result<Rule> read_rule(const TomlTable& table, const std::string& id) {
  SEXTANT_CHECK_OK(table.only(kRuleKeys));
  Rule rule{.id = id, .title = {}, .meaning = {}, .record = {}, .advice = {}};
  SEXTANT_TRY(rule.title, table.text("title"));
  SEXTANT_TRY(rule.meaning, table.text("meaning"));
  SEXTANT_TRY(rule.record, table.text("record"));
  SEXTANT_TRY(const TomlTable advice, table.table("advice"));
  for (const std::string& key : advice.keys_as_written()) {
    SEXTANT_TRY(const TomlTable one, advice.table(key));
    SEXTANT_TRY(Advice read, read_advice(one, key));
    rule.advice.push_back(std::move(read));
  }
  return rule;
}

}  // namespace

Result<RuleBook> RuleBook::load(const describe::DataStore& data) {
  RuleBook book;
  for (const std::string& stem : data.list(kRuleFolder, "toml")) {
    const std::string path = fmt::format("{}/{}.toml", kRuleFolder, stem);
    SEXTANT_TRY(const std::string text, data.read(path));
    SEXTANT_TRY(const TomlTable table, TomlTable::parse(text, data.where(path)));
    for (const std::string& id : table.keys()) {
      SEXTANT_TRY(const TomlTable one, table.table(id));
      SEXTANT_TRY(Rule rule, read_rule(one, id));
      book.rules_.push_back(std::move(rule));
    }
  }
  std::ranges::sort(book.rules_, {}, &Rule::id);
  const auto twice = std::ranges::adjacent_find(book.rules_, {}, &Rule::id);
  if (twice != book.rules_.end()) {
    return invalid(fmt::format("two rules are called {}", twice->id), data.where(kRuleFolder),
                   "each once, in all files together");
  }
  return book;
}

const Rule* RuleBook::find(std::string_view id) const {
  const auto at = std::ranges::lower_bound(rules_, id, {}, &Rule::id);
  return at != rules_.end() && at->id == id ? &*at : nullptr;
}

const Rule& RuleBook::rule(std::string_view id) const {
  const Rule* found = find(id);
  assert(found != nullptr);
  return *found;
}

}  // namespace sextant::diagnose
