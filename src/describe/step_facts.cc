#include "describe/step_facts.h"

#include <array>
#include <span>
#include <vector>

#include "base/quantity_text.h"
#include "describe/toml_table.h"

namespace sextant::describe {

Result<StepFacts> step_facts(const DataStore& data) {
  constexpr std::string_view kFile = "step.toml";
  SEXTANT_TRY(const std::string text, data.read(kFile));
  SEXTANT_TRY(const TomlTable file, TomlTable::parse(text, data.where(kFile)));
  StepFacts facts;
  const std::array<std::pair<std::string_view, Sourced<double>*>, 6> ratios{
      {{"hidden_tensor", &facts.hidden_tensor},
       {"hidden_expert", &facts.hidden_expert},
       {"hiding_compute", &facts.hiding_compute},
       {"slowed", &facts.slowed},
       {"host", &facts.host},
       {"uneven", &facts.uneven}}};
  std::vector<std::string_view> keys{"loop"};
  for (const auto& [key, into] : ratios) {
    SEXTANT_TRY(*into, file.sourced(key, parse_ratio));
    keys.push_back(key);
  }
  SEXTANT_TRY(facts.loop, file.sourced("loop", parse_seconds));
  SEXTANT_CHECK_OK(file.only(keys));
  return facts;
}

}  // namespace sextant::describe
