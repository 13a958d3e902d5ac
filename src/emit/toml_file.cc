#include "emit/toml_file.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/toml_table.h"

namespace sextant::emit {
namespace {

// torchtitan's lists: written as such even where they have one element.
constexpr std::array<std::string_view, 3> kLists{"compile.components", "model.converters",
                                                 "parallelism.module_fqns_per_model_part"};
constexpr std::string_view kListOfLists = "parallelism.module_fqns_per_model_part";
// A word even where it looks like a number.
constexpr std::string_view kWord = "activation_checkpoint.selective_ac_option";

bool is_bare_key(std::string_view part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20 || code == 0x7F) {
      out += fmt::format("\\u{:04X}", code);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// "12" and "-1", but not "012" or "+1": numbers that TOML spells so too.
bool is_toml_number(std::string_view text) {
  if (const auto whole = to_integer(text)) {
    return std::to_string(*whole) == text;
  }
  const std::size_t digits = text.starts_with('-') ? 1 : 0;
  const std::size_t point = text.find('.');
  const std::size_t exponent = text.find('e');
  const bool plain = text.find_first_not_of("0123456789.-e") == std::string_view::npos;
  const bool zeros = text.size() > digits + 1 && text[digits] == '0' && text[digits + 1] != '.' &&
                     text[digits + 1] != 'e';
  const bool pointed =
      point == std::string_view::npos || (point > digits && point + 1 < text.size() &&
                                          text[point + 1] >= '0' && text[point + 1] <= '9');
  return plain && !zeros && pointed && exponent != digits && to_double(text).has_value();
}

std::string scalar(std::string_view text, std::string_view key) {
  const bool bare = text == "true" || text == "false" || is_toml_number(text);
  return bare && key != kWord ? std::string(text) : toml_string(text);
}

std::string toml_value(const Setting& setting) {
  const bool list = setting.values.size() != 1 ||
                    std::find(kLists.begin(), kLists.end(), setting.key) != kLists.end();
  if (!list) {
    return scalar(setting.values[0], setting.key);
  }
  std::vector<std::string> parts;
  for (const std::string& value : setting.values) {
    if (setting.key != kListOfLists) {
      parts.push_back(scalar(value, setting.key));
      continue;
    }
    std::vector<std::string> inner;
    for (const std::string_view one : split(value, ',')) {
      inner.push_back(toml_string(one));
    }
    parts.push_back(fmt::format("[{}]", join(inner, ", ")));
  }
  return fmt::format("[{}]", join(parts, ", "));
}

std::string key_text(std::string_view dotted) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(dotted, '.')) {
    parts.push_back(is_bare_key(part) ? std::string(part) : toml_string(part));
  }
  return join(parts, ".");
}

}  // namespace

std::string render_toml(const Settings& settings, std::span<const std::string> comments) {
  std::string text;
  for (const std::string& comment : comments) {
    text += fmt::format("# {}\n", printable(comment, 1000));
  }
  std::vector<std::string> sections;
  for (const Setting& setting : settings.given) {
    const std::size_t dot = setting.key.rfind('.');
    sections.push_back(dot == std::string::npos ? "" : setting.key.substr(0, dot));
  }
  std::vector<std::string> order = sections;
  std::sort(order.begin(), order.end());
  order.erase(std::unique(order.begin(), order.end()), order.end());
  for (const std::string& section : order) {
    if (!section.empty()) {
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", key_text(section));
    }
    for (std::size_t i = 0; i < sections.size(); ++i) {
      const Setting& setting = settings.given[i];
      // Of a repeated key the last stands.
      if (sections[i] != section || find(settings.given, setting.key) != &setting) {
        continue;
      }
      const std::size_t start = section.empty() ? 0 : section.size() + 1;
      text += fmt::format("{} = {}\n", key_text(std::string_view(setting.key).substr(start)),
                          toml_value(setting));
    }
  }
  return text;
}

Result<Settings> parse_toml(std::string_view text, std::string_view name, Dialect dialect) {
  SEXTANT_TRY(std::vector<describe::TomlEntry> entries, describe::toml_entries(text, name));
  Settings settings;
  settings.dialect = dialect;
  for (describe::TomlEntry& entry : entries) {
    settings.given.push_back({std::move(entry.key),
                              std::move(entry.values),
                              {std::string(name), entry.line, entry.offset, entry.length}});
  }
  return settings;
}

}  // namespace sextant::emit
