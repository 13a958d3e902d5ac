#include "describe/draw_facts.h"

#include <array>

#include "base/quantity_text.h"
#include "describe/toml_table.h"

namespace sextant::describe {

Result<DrawFacts> draw_facts(const DataStore& data) {
  constexpr std::string_view kFile = "power.toml";
  SEXTANT_TRY(const std::string text, data.read(kFile));
  SEXTANT_TRY(const TomlTable file, TomlTable::parse(text, data.where(kFile)));
  DrawFacts facts;
  SEXTANT_TRY(facts.computing, file.sourced("computing", parse_ratio));
  SEXTANT_TRY(facts.waiting, file.sourced("waiting", parse_ratio));
  constexpr std::array<std::string_view, 2> kKeys{"computing", "waiting"};
  SEXTANT_CHECK_OK(file.only(kKeys));
  if (facts.waiting.value <= 0.0 || facts.waiting.value > facts.computing.value) {
    return invalid("waiting is to be above 0 and at most computing", data.where(kFile),
                   "shares of the power limit");
  }
  return facts;
}

}  // namespace sextant::describe
