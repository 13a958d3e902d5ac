// Settings without which a framework does not start, as data: what a written file lacks of them is
// said, for its user to fill in.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "emit/dialects.h"
#include "emit/settings.h"

namespace sextant::emit {

struct RequiredSetting {
  std::string key;
  std::string type;                  // int, float, text, switch, table
  std::vector<std::string> instead;  // any of these does too
  std::vector<std::string> choices;  // empty: any value
  std::string source;
};

// None of a dialect whose framework has a default for everything that was read. An Error where the
// data is broken.
Result<std::vector<RequiredSetting>> required_settings(Dialect dialect,
                                                       const describe::DataStore& data);

// Those that the settings do not give; a table is given by a key inside it.
Result<std::vector<Inexpressible>> left_to_fill_in(const Settings& settings,
                                                   const describe::DataStore& data);

}  // namespace sextant::emit
