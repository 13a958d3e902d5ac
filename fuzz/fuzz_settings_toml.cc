// TOML as such: any bytes end in a table or an Error with a place.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "describe/toml_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto table = sextant::describe::TomlTable::parse(text, "fuzz.toml");
  if (!table) {
    return table.error().where.starts_with("fuzz.toml") ? 0 : (std::abort(), 0);
  }
  for (const auto& key : table->keys()) {
    (void)table->text(key);
    (void)table->texts(key);
    (void)table->where(key);
  }
  return 0;
}
