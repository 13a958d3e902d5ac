#include "describe/torus_facts.h"

#include <array>

#include "base/quantity_text.h"
#include "describe/toml_table.h"

namespace sextant::describe {

Result<TorusFacts> torus_facts(const DataStore& data) {
  constexpr std::string_view kFile = "comm/torus.toml";
  SEXTANT_TRY(const std::string text, data.read(kFile));
  SEXTANT_TRY(const TomlTable file, TomlTable::parse(text, data.where(kFile)));
  TorusFacts facts;
  SEXTANT_TRY(facts.share, file.sourced("share", parse_ratio));
  SEXTANT_TRY(facts.hop, file.sourced("hop", parse_seconds));
  constexpr std::array<std::string_view, 2> kKeys{"share", "hop"};
  SEXTANT_CHECK_OK(file.only(kKeys));
  return facts;
}

}  // namespace sextant::describe
