// Past optimisations that come with the program: published changes of one job and what each was
// measured to do, of data/wins/*.toml, their sources in data/wins/sources.toml.
#pragma once

#include <vector>

#include "base/result.h"
#include "describe/data_store.h"
#include "kb/entry.h"

namespace sextant::kb {

// By file, then in the file's order. `source` of an entry in a file is the id of a described
// source, in the answer its title; it takes the source's url and date where it has none of its own.
// An Error names file and line: entries that are no wins, ids that stand twice, sources nobody
// described or uses.
Result<std::vector<Entry>> load_wins(const describe::DataStore& data);

}  // namespace sextant::kb
