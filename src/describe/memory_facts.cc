#include "describe/memory_facts.h"

#include <algorithm>
#include <array>

#include "base/quantity_text.h"
#include "describe/toml_table.h"

namespace sextant::describe {
namespace {

constexpr std::string_view kMemoryFile = "memory.toml";

std::string_view family_of(Framework framework) {
  switch (framework) {
    case Framework::kMegatronCore:
      return "megatron";
    case Framework::kMegatronDeepspeed:
    case Framework::kDeepspeed:
      return "deepspeed";
    case Framework::kMaxtext:
      return "xla";
    case Framework::kTorchtitan:
    case Framework::kFsdp1:
      return "fsdp";
    case Framework::kAccelerate:
    case Framework::kNanotron:
    case Framework::kOther:
      return "pytorch";
  }
  return "pytorch";
}

}  // namespace

Result<MemoryFacts> memory_facts(const DataStore& data, Framework framework) {
  constexpr std::array<std::string_view, 6> kKeys{
      "workspace", "rounding", "fragmentation", "fragmentation_recomputed", "spread", "context"};
  constexpr std::array<std::string_view, 1> kUnmeasuredKeys{"certainty"};
  SEXTANT_TRY(const std::string text, data.read(kMemoryFile));
  SEXTANT_TRY(const TomlTable file, TomlTable::parse(text, data.where(kMemoryFile)));
  SEXTANT_TRY(const TomlTable table, file.table(family_of(framework)));
  SEXTANT_CHECK_OK(table.only(kKeys));
  MemoryFacts facts;
  SEXTANT_TRY(facts.workspace, table.sourced("workspace", parse_bytes));
  SEXTANT_TRY(facts.rounding, table.sourced("rounding", parse_ratio));
  SEXTANT_TRY(facts.fragmentation, table.sourced("fragmentation", parse_ratio));
  SEXTANT_TRY(facts.fragmentation_recomputed,
              table.sourced("fragmentation_recomputed", parse_ratio));
  SEXTANT_TRY(facts.spread, table.sourced("spread", parse_ratio));
  SEXTANT_TRY(facts.context, table.sourced("context", parse_bytes));
  constexpr std::array<std::string_view, 2> kExpandableKeys{"fragmentation", "spread"};
  SEXTANT_TRY(const TomlTable expandable, file.table("expandable"));
  SEXTANT_CHECK_OK(expandable.only(kExpandableKeys));
  SEXTANT_TRY(facts.expandable_fragmentation, expandable.sourced("fragmentation", parse_ratio));
  SEXTANT_TRY(facts.expandable_spread, expandable.sourced("spread", parse_ratio));
  if (framework != Framework::kAccelerate) {
    facts.expandable_spread.value = std::max(facts.spread.value, facts.expandable_spread.value);
  }
  SEXTANT_TRY(const TomlTable unmeasured, file.table("unmeasured"));
  SEXTANT_CHECK_OK(unmeasured.only(kUnmeasuredKeys));
  SEXTANT_TRY(facts.certainty, unmeasured.sourced("certainty", parse_ratio));
  return facts;
}

}  // namespace sextant::describe
