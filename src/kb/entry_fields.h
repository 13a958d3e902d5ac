// The fields of entries before anything is made of them, whatever file they stand in. Only the .cc
// files of kb include this.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sextant::kb {

struct EntryField {
  std::vector<std::string> values;
  std::string where;  // "mine.toml:12"
};

struct EntryFields {
  std::string id;
  std::string where;
  std::map<std::string, EntryField, std::less<>> by_key;
};

inline constexpr std::size_t kMostEntries = 10'000;

// In the order of the file; ids stand once.
Result<std::vector<EntryFields>> toml_fields(std::string_view text, std::string_view where);
Result<std::vector<EntryFields>> json_fields(std::string_view text, std::string_view where);

}  // namespace sextant::kb
