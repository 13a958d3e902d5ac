// All that the knowledge base knows: what comes with the program, and the user's own.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "explain/provenance.h"
#include "kb/entry.h"

namespace sextant::app {

// ‹kb› where it is given, else the context's; empty: none is known.
std::filesystem::path kb_file(const std::string& word, const Context& context);

struct KnownEntries {
  std::vector<kb::Entry> entries;
  std::vector<kb::Entry> own;      // of these
  explain::Provenance provenance;  // the file, where there are own ones
};
// A file that is not there has no own entries.
Result<KnownEntries> known_entries(const std::filesystem::path& file, const Context& context);

// What an answer that rests on own entries begins with.
explain::Provenance kb_provenance(const std::filesystem::path& file,
                                  const std::vector<kb::Entry>& own);

}  // namespace sextant::app
