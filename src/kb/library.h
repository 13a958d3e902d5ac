// Everything that is known, as one value: the practices and past optimisations that come with the
// program, and the user's own entries behind them. Built-in content is versioned with the program
// and never copied into the user's file.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "kb/entry.h"

namespace sextant::kb {

// Practices by file and id, then wins by file.
Result<std::vector<Entry>> built_in_entries(const describe::DataStore& data);

// Built-in entries before `own` ones. An own entry under the id of a built-in one is an Error: an
// id means one thing.
Result<std::vector<Entry>> joined_entries(std::vector<Entry> built_in, std::span<const Entry> own);

// An Error with the nearest ids where there is none of that id.
Result<Entry> find_entry(std::span<const Entry> entries, std::string_view id);

}  // namespace sextant::kb
