// The user's own entries, in a file of the knowledge base (database.h), behind the one interface
// that a store shared by a team would have too.
//
// What is built in is not in the file: it is a value that comes with the program (library.h). A
// store that is read where there is no file has no entries.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kb/database.h"
#include "kb/entry.h"

namespace sextant::kb {

// How the file's tables came to be, version by version; one row a step, never changed.
Migrations store_migrations();

enum class Added : std::uint8_t { kNew, kAlreadyThere, kReplaced };

class Store {
 public:
  static constexpr std::int64_t kMostOwnEntries = 100'000;

  static Result<Store> open(const std::filesystem::path& path, Access access);

  // In the order in which they were added.
  [[nodiscard]] Result<std::vector<Entry>> entries();

  // All of them or none, on the disk when this returns; one for each says what became of it. The
  // same entry again changes nothing; another under its id is an Error unless it replaces. So is an
  // entry that holds what looks like a key or a password.
  // REQUIRES: opened to be written.
  [[nodiscard]] Result<std::vector<Added>> add(std::span<const Entry> entries, bool replaces);

 private:
  Store() = default;
  [[nodiscard]] Result<Added> add_one(Database& database, const Entry& entry, bool replaces);

  std::optional<Database> database_;
  std::string where_;
};

}  // namespace sextant::kb
