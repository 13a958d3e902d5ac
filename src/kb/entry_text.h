// Entries as files: read from TOML or JSON, written as TOML that reads back the same.
//
// A file is a table of entries by id: [id] kind = "win", title = "…", source = "…", … In JSON an
// object of objects with the same keys. Files are foreign: at most 1 MiB (TOML) or 4 MiB (JSON),
// 10,000 entries, 1,000 bytes a text, 16 words a list; an Error names file and line. An entry
// without a source is refused.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kb/entry.h"

namespace sextant::kb {

// By the order of the file. JSON where the text begins with '{', else TOML. They are the user's
// own; `where` names the file.
Result<std::vector<Entry>> parse_entries(std::string_view text, std::string_view where);

// The one entry that these fields make, each as it would stand in a file (lists by commas).
// `where` names what gave them; an Error names a field as the parameter it came by: ‹value-before›.
struct GivenField {
  std::string key;
  std::string value;
};
Result<Entry> entry_from(const std::string& id, std::span<const GivenField> fields,
                         std::string_view where);

// What a question states of itself, with the keys of an entry: bottlenecks, axes, layout, …
Result<Features> features_from(std::span<const GivenField> fields);

// As parse_entries reads them; keys that hold nothing are left out.
std::string entries_toml(std::span<const Entry> entries);

}  // namespace sextant::kb
