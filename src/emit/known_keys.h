// The keys a framework has, and which of them a key that it does not have was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "describe/data_store.h"
#include "emit/settings.h"

namespace sextant::emit {

struct KnownKeys {
  std::vector<std::string> keys;
  std::vector<std::string> sections;  // any key of theirs is taken as known
};

// Is it one of the keys, a section, or a key of a section?
bool is_known(std::string_view key, const KnownKeys& known);

// Of the dialect, as its reader knows them.
KnownKeys known_keys(Dialect dialect, const describe::DataStore& data);

// The keys that it may have been meant for, nearest first; of a section only the section's name is
// mended.
std::vector<std::string> nearest_keys(std::string_view key, const KnownKeys& known);

}  // namespace sextant::emit
