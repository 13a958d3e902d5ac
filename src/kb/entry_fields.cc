#include "kb/entry_fields.h"

#include <fmt/format.h>

#include "base/text.h"
#include "describe/json_value.h"
#include "describe/toml_table.h"

namespace sextant::kb {
namespace {

using describe::JsonValue;

// Values of lists are joined words; more is no entry's.
constexpr std::size_t kMostInAList = 16;

tl::unexpected<Error> too_many_entries(std::string_view where) {
  return invalid(fmt::format("more than {} entries", kMostEntries), std::string(where));
}

Result<std::string> scalar_of(const JsonValue& value) {
  switch (value.kind()) {
    case JsonValue::Kind::kString:
      return value.text();
    case JsonValue::Kind::kNumber:
    case JsonValue::Kind::kBoolean:
      return value.json();
    case JsonValue::Kind::kNull:
    case JsonValue::Kind::kArray:
    case JsonValue::Kind::kObject:
      break;
  }
  return invalid("a field holds no plain value", value.where(), "text, a number, true or false");
}

Result<std::vector<std::string>> values_of_json(const JsonValue& value) {
  std::vector<std::string> values;
  if (value.kind() != JsonValue::Kind::kArray) {
    SEXTANT_TRY(std::string text, scalar_of(value));
    values.push_back(std::move(text));
    return values;
  }
  if (value.size() > kMostInAList) {
    return invalid(fmt::format("a list of {}", value.size()), value.where(),
                   fmt::format("at most {}", kMostInAList));
  }
  for (const JsonValue& element : value.elements()) {
    SEXTANT_TRY(std::string text, scalar_of(element));
    values.push_back(std::move(text));
  }
  return values;
}

// Places are not JsonValue::where, which looks for the key from the file's beginning: a file of
// thousands of entries would take minutes.
Result<EntryFields> fields_of_json(const JsonValue& entry, const std::string& id,
                                   std::string_view where) {
  EntryFields fields{.id = id, .where = fmt::format("{} ({})", where, printable(id)), .by_key = {}};
  for (const std::string& key : entry.keys()) {
    if (const auto value = entry.member(key)) {  // null: not stated
      SEXTANT_TRY(std::vector<std::string> values, values_of_json(*value));
      fields.by_key[key] = {std::move(values),
                            fmt::format("{} ({}.{})", where, printable(id), printable(key))};
    }
  }
  return fields;
}

}  // namespace

Result<std::vector<EntryFields>> toml_fields(std::string_view text, std::string_view where) {
  SEXTANT_TRY(std::vector<describe::TomlEntry> rows, describe::toml_entries(text, where));
  std::vector<EntryFields> found;
  std::map<std::string, std::size_t, std::less<>> places;
  for (describe::TomlEntry& row : rows) {
    const std::string row_where = fmt::format("{}:{}", where, row.line);
    const std::size_t dot = row.key.find('.');
    if (dot == std::string::npos) {
      return invalid(fmt::format("'{}' stands outside of an entry", printable(row.key)), row_where,
                     "[an-id] before its keys");
    }
    if (row.values.size() > kMostInAList) {
      return invalid(fmt::format("a list of {}", row.values.size()), row_where,
                     fmt::format("at most {}", kMostInAList));
    }
    const auto [place, is_new] = places.emplace(row.key.substr(0, dot), found.size());
    if (is_new) {
      if (found.size() == kMostEntries) {
        return too_many_entries(row_where);
      }
      found.push_back({.id = place->first, .where = row_where, .by_key = {}});
    }
    found[place->second].by_key[row.key.substr(dot + 1)] = {std::move(row.values), row_where};
  }
  return found;
}

Result<std::vector<EntryFields>> json_fields(std::string_view text, std::string_view where) {
  SEXTANT_TRY(const JsonValue file, JsonValue::parse(text, where));
  std::vector<EntryFields> found;
  for (const std::string& id : file.keys()) {
    const auto entry = file.member(id);
    if (!entry || entry->kind() != JsonValue::Kind::kObject) {
      return invalid(fmt::format("'{}' is no entry", printable(id)), std::string(where),
                     "an object of objects: {\"an-id\": {\"kind\": …}}");
    }
    if (found.size() == kMostEntries) {
      return too_many_entries(where);
    }
    SEXTANT_TRY(EntryFields fields, fields_of_json(*entry, id, where));
    found.push_back(std::move(fields));
  }
  return found;
}

}  // namespace sextant::kb
