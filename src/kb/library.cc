#include "kb/library.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "kb/wins.h"

namespace sextant::kb {

Result<std::vector<Entry>> built_in_entries(const describe::DataStore& data) {
  SEXTANT_TRY(const PracticeBook book, load_practices(data));
  SEXTANT_TRY(std::vector<Entry> wins, load_wins(data));
  std::vector<Entry> entries;
  for (const Practice& practice : book.practices) {
    entries.push_back(entry_of(practice, book.sources.find(practice.source)->second));
  }
  return joined_entries(std::move(entries), wins);
}

Result<std::vector<Entry>> joined_entries(std::vector<Entry> built_in, std::span<const Entry> own) {
  std::set<std::string, std::less<>> ids;
  for (const Entry& entry : built_in) {
    ids.insert(entry.id);
  }
  for (const Entry& entry : own) {
    if (!ids.insert(entry.id).second) {
      return invalid(
          fmt::format("'{}' is the id of an entry that comes with the program", entry.id), {},
          "another id");
    }
  }
  built_in.insert(built_in.end(), own.begin(), own.end());
  return built_in;
}

Result<Entry> find_entry(std::span<const Entry> entries, std::string_view id) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [id](const Entry& entry) { return entry.id == id; });
  if (found != entries.end()) {
    return *found;
  }
  std::vector<std::string> ids;
  for (const Entry& entry : entries) {
    ids.push_back(entry.id);
  }
  const std::string hint = did_you_mean(id, ids);
  return not_found(fmt::format("no entry '{}'{}{}", printable(id), hint.empty() ? "" : "; ", hint),
                   {}, "an id that «kb list» shows");
}

}  // namespace sextant::kb
