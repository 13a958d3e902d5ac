#include "kb/store.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "kb/entry_text.h"
#include "kb/secrets.h"

namespace sextant::kb {
namespace {

// An entry is kept as it would stand in a file: what reads a file reads it.
constexpr std::array<std::string_view, 3> kMigrations{
    "CREATE TABLE entries(number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, "
    "body TEXT NOT NULL) STRICT",
    "CREATE TABLE sessions(number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, "
    "begun_at TEXT NOT NULL) STRICT",
    "CREATE TABLE events(session INTEGER NOT NULL REFERENCES sessions(number), place INTEGER NOT "
    "NULL, kind TEXT NOT NULL, at TEXT NOT NULL, text TEXT NOT NULL, chain TEXT NOT NULL, "
    "PRIMARY KEY(session, place)) STRICT, WITHOUT ROWID"};

}  // namespace

Migrations store_migrations() {
  return kMigrations;
}

Result<Store> Store::open(const std::filesystem::path& path, Access access) {
  Store store;
  store.where_ = path.string();
  std::error_code ignored;
  if (access == Access::kRead && (path.empty() || !std::filesystem::exists(path, ignored))) {
    return store;
  }
  SEXTANT_TRY(Database database, Database::open(path, access, kMigrations));
  store.database_ = std::move(database);
  return store;
}

Result<std::vector<Entry>> Store::entries() {
  std::vector<std::string> bodies;
  if (database_ && database_->version() > 0) {
    SEXTANT_CHECK_OK(
        database_->run("SELECT body FROM entries ORDER BY number LIMIT ?1", {kMostOwnEntries},
                       [&bodies](const Row& row) { bodies.emplace_back(row.text(0)); }));
  }
  std::vector<Entry> found;
  for (const std::string& body : bodies) {
    SEXTANT_TRY(std::vector<Entry> one, parse_entries(body, where_));
    if (one.size() != 1) {
      return invalid(fmt::format("a row holds {} entries", one.size()), where_, "one a row");
    }
    found.push_back(std::move(one.front()));
  }
  return found;
}

Result<Added> Store::add_one(Database& database, const Entry& entry, bool replaces) {
  const std::string body = entries_toml({&entry, 1});
  if (has_secret(body)) {
    return invalid(fmt::format("'{}' holds what looks like a key or a password", entry.id), where_,
                   "entries without secrets");
  }
  std::optional<std::string> there;
  SEXTANT_CHECK_OK(database.run("SELECT body FROM entries WHERE id = ?1", {entry.id},
                                [&there](const Row& row) { there = row.text(0); }));
  if (there == body) {
    return Added::kAlreadyThere;
  }
  if (there && !replaces) {
    return invalid(fmt::format("'{}' is there already, and says otherwise", entry.id), where_,
                   "another id, or ‹replace›");
  }
  if (there) {
    SEXTANT_CHECK_OK(database.run("UPDATE entries SET body = ?2 WHERE id = ?1",
                                  {entry.id, std::string_view(body)}));
    return Added::kReplaced;
  }
  SEXTANT_CHECK_OK(database.run("INSERT INTO entries(id, body) VALUES(?1, ?2)",
                                {entry.id, std::string_view(body)}));
  return Added::kNew;
}

Result<std::vector<Added>> Store::add(std::span<const Entry> entries, bool replaces) {
  if (!database_) {
    return invalid("the store is not open to be written", where_, "one that is");
  }
  Database& database = *database_;
  std::vector<Added> added;
  const auto stored = database.whole([&]() -> Result<void> {
    for (const Entry& entry : entries) {
      SEXTANT_TRY(const Added one, add_one(database, entry, replaces));
      added.push_back(one);
    }
    std::int64_t count = 0;
    SEXTANT_CHECK_OK(database.run("SELECT count(*) FROM entries", {},
                                  [&count](const Row& row) { count = row.integer(0); }));
    if (count > kMostOwnEntries) {
      return invalid(fmt::format("would hold {} entries", count), where_,
                     fmt::format("at most {}", kMostOwnEntries));
    }
    return {};
  });
  SEXTANT_CHECK_OK(stored);
  return added;
}

}  // namespace sextant::kb
