#include "emit/required_settings.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/toml_table.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kRequiredFile = "frameworks/required_settings.toml";
constexpr std::array<std::string_view, 4> kRequiredKeys{"type", "or", "choices", "source"};

Result<RequiredSetting> required_setting(const describe::TomlTable& row, const std::string& key) {
  RequiredSetting one;
  one.key = key;
  SEXTANT_CHECK_OK(row.only(kRequiredKeys));
  SEXTANT_TRY(one.type, row.text("type"));
  SEXTANT_TRY(one.instead, row.texts("or"));
  SEXTANT_TRY(one.choices, row.texts("choices"));
  SEXTANT_TRY(one.source, row.text("source"));
  if (!is_one_of(one.type, {"int", "float", "text", "switch", "table"})) {
    return invalid(fmt::format("'{}' is no type of a setting", printable(one.type)),
                   row.where("type"), "int, float, text, switch or table");
  }
  return one;
}

bool gives(const Settings& settings, std::string_view key) {
  return std::ranges::any_of(settings.given, [&](const Setting& one) {
    return one.key == key ||
           (one.key.size() > key.size() && one.key.starts_with(key) && one.key[key.size()] == '.');
  });
}

}  // namespace

Result<std::vector<RequiredSetting>> required_settings(Dialect dialect,
                                                       const describe::DataStore& data) {
  SEXTANT_TRY(const std::string text, data.read(kRequiredFile));
  SEXTANT_TRY(const describe::TomlTable file,
              describe::TomlTable::parse(text, data.where(kRequiredFile)));
  const std::string name(describe::word_of<Dialect>(kDialectWords, dialect));
  std::vector<RequiredSetting> required;
  if (!file.has(name)) {
    return required;
  }
  SEXTANT_TRY(const describe::TomlTable table, file.table(name));
  for (const std::string& key : table.keys()) {
    SEXTANT_TRY(const describe::TomlTable row, table.table(key));
    SEXTANT_TRY(RequiredSetting one, required_setting(row, key));
    required.push_back(std::move(one));
  }
  return required;
}

Result<std::vector<Inexpressible>> left_to_fill_in(const Settings& settings,
                                                   const describe::DataStore& data) {
  SEXTANT_TRY(const std::vector<RequiredSetting> required,
              required_settings(settings.dialect, data));
  std::vector<Inexpressible> missing;
  for (const RequiredSetting& one : required) {
    const bool given =
        gives(settings, one.key) || std::ranges::any_of(one.instead, [&](const std::string& other) {
          return gives(settings, other);
        });
    if (!given) {
      const std::string others =
          one.instead.empty() ? "" : fmt::format(", or {}", join(one.instead, ", "));
      missing.push_back(
          {one.key, "?",
           fmt::format("the framework does not start without it{}: fill it in", others)});
    }
  }
  return missing;
}

}  // namespace sextant::emit
