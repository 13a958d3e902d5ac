#include "describe/processor_facts.h"

#include <array>

#include "base/quantity_text.h"
#include "describe/toml_table.h"

namespace sextant::describe {

Result<ProcessorFacts> processor_facts(const DataStore& data) {
  constexpr std::string_view kFile = "processor.toml";
  constexpr std::array<std::string_view, 2> kTables{"memory", "call"};
  constexpr std::array<std::string_view, 2> kMemory{"share", "thread"};
  constexpr std::array<std::string_view, 1> kCall{"start"};
  SEXTANT_TRY(const std::string text, data.read(kFile));
  SEXTANT_TRY(const TomlTable file, TomlTable::parse(text, data.where(kFile)));
  SEXTANT_CHECK_OK(file.only(kTables));
  SEXTANT_TRY(const TomlTable memory, file.table("memory"));
  SEXTANT_CHECK_OK(memory.only(kMemory));
  SEXTANT_TRY(const TomlTable call, file.table("call"));
  SEXTANT_CHECK_OK(call.only(kCall));
  ProcessorFacts facts;
  SEXTANT_TRY(facts.memory_share, memory.sourced("share", parse_ratio));
  SEXTANT_TRY(facts.thread_memory, memory.sourced("thread", parse_bytes_per_second));
  SEXTANT_TRY(facts.call, call.sourced("start", parse_seconds));
  return facts;
}

}  // namespace sextant::describe
