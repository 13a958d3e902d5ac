// What the knowledge base answers: entries found, listed, shown, added or exported. What entries
// say may come from anybody: control characters, and letters that turn the direction of a line, are
// shown as their codes, markup as text.
#pragma once

#include <string>
#include <vector>

#include "explain/provenance.h"
#include "explain/style.h"
#include "kb/entry.h"
#include "kb/search.h"
#include "kb/store.h"

namespace sextant::explain {

struct ShownEntry {
  kb::Entry entry;
  double score = 0;                      // of what was searched for
  std::vector<kb::RankTerm> terms = {};  // of the score
};

// What was searched for, best first.
struct FoundEntriesAnswer {
  std::vector<ShownEntry> entries;
  Provenance provenance;
};
std::string to_text(const FoundEntriesAnswer& answer, const Style& style);

// A line each.
struct ListedEntriesAnswer {
  std::vector<kb::Entry> entries;
  Provenance provenance;
};
std::string to_text(const ListedEntriesAnswer& answer, const Style& style);

// Everything that each says.
struct EntriesInFullAnswer {
  std::vector<kb::Entry> entries;
  Provenance provenance;
};
std::string to_text(const EntriesInFullAnswer& answer, const Style& style);

// As a file that is read back; JSON as the others have it.
struct ExportedEntriesAnswer {
  std::vector<kb::Entry> entries;
  std::string file;  // that has them; "": none, they are the answer
  Provenance provenance;
};
std::string to_text(const ExportedEntriesAnswer& answer, const Style& style);

struct AddedEntriesAnswer {
  std::vector<kb::Entry> entries;
  std::vector<kb::Added> added;  // what became of each
  std::string file;
  Provenance provenance;
};
std::string to_text(const AddedEntriesAnswer& answer, const Style& style);

}  // namespace sextant::explain
