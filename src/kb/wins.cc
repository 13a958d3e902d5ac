#include "kb/wins.h"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "describe/toml_table.h"
#include "kb/entry_text.h"

namespace sextant::kb {
namespace {

using describe::TomlTable;

constexpr std::string_view kWinsFolder = "wins";
constexpr std::string_view kWinSources = "sources";

struct WinSource {
  std::string title;
  std::string url;
  std::string date;
};
using WinSources = std::map<std::string, WinSource, std::less<>>;

Result<WinSources> read_win_sources(const describe::DataStore& data) {
  const std::string path = fmt::format("{}/{}.toml", kWinsFolder, kWinSources);
  SEXTANT_TRY(const std::string text, data.read(path));
  SEXTANT_TRY(const TomlTable file, TomlTable::parse(text, data.where(path)));
  WinSources sources;
  for (const std::string& id : file.keys()) {
    SEXTANT_TRY(const TomlTable table, file.table(id));
    WinSource source;
    SEXTANT_TRY(source.title, table.text("title"));
    SEXTANT_TRY(source.url, table.text("url"));
    SEXTANT_TRY(source.date, table.text("date"));
    constexpr std::array<std::string_view, 3> kKeys{"title", "url", "date"};
    SEXTANT_CHECK_OK(table.only(kKeys));
    if (source.title.empty() || source.url.empty()) {
      return invalid(fmt::format("'{}' has no title or no url", id), table.where());
    }
    sources.emplace(id, std::move(source));
  }
  return sources;
}

std::vector<std::string> names_of(const WinSources& sources) {
  std::vector<std::string> names;
  for (const auto& [id, source] : sources) {
    names.push_back(id);
  }
  return names;
}

// The entry with its source in full.
Result<Entry> sourced_win(Entry entry, const WinSources& sources, const std::string& where) {
  if (entry.kind != EntryKind::kWin) {
    return invalid(fmt::format("'{}' is no win", entry.id), where, "kind = \"win\"");
  }
  const auto source = sources.find(entry.source);
  if (source == sources.end()) {
    return describe::unknown_word(entry.source, names_of(sources), "source",
                                  fmt::format("{}, {}", where, entry.id));
  }
  entry.origin = Origin::kBuiltIn;
  entry.source = source->second.title;
  entry.url = entry.url.empty() ? source->second.url : entry.url;
  entry.date = entry.date.empty() ? source->second.date : entry.date;
  return entry;
}

}  // namespace

Result<std::vector<Entry>> load_wins(const describe::DataStore& data) {
  SEXTANT_TRY(const WinSources sources, read_win_sources(data));
  std::vector<Entry> wins;
  std::set<std::string> ids;
  std::set<std::string> used;
  for (const std::string& stem : data.list(kWinsFolder, "toml")) {
    if (stem == kWinSources) {
      continue;
    }
    const std::string path = fmt::format("{}/{}.toml", kWinsFolder, stem);
    SEXTANT_TRY(const std::string text, data.read(path));
    SEXTANT_TRY(std::vector<Entry> entries, parse_entries(text, data.where(path)));
    for (Entry& entry : entries) {
      used.insert(entry.source);
      if (!ids.insert(entry.id).second) {
        return invalid(fmt::format("'{}' stands twice", entry.id), data.where(path));
      }
      SEXTANT_TRY(Entry win, sourced_win(std::move(entry), sources, data.where(path)));
      wins.push_back(std::move(win));
    }
  }
  for (const auto& [id, source] : sources) {
    if (!used.contains(id)) {
      return invalid(fmt::format("no win names the source '{}'", id),
                     data.where(fmt::format("{}/{}.toml", kWinsFolder, kWinSources)),
                     "sources that a win names");
    }
  }
  return wins;
}

}  // namespace sextant::kb
