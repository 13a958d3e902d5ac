// One SQLite database, read and written: the file of the knowledge base, or a scratch one in
// memory. The only owner of sqlite3.h in kb (docs/decisions/0019-sqlite3-kb.md).
//
// Write-ahead logging, so that readers and a writer do not wait for each other; every commit is on
// the disk before it is acknowledged (synchronous FULL); writers wait for one another. The schema
// has a number (user_version); a file of an older one is brought up to date when it is opened to be
// written, one of a newer program is refused. Values are bound, never spelled into a statement, and
// bounded; the file may come from somebody else: its schema is not trusted, triggers, views and
// extensions are off, its pages are checked when it is opened.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace sextant::kb {

// A row that a query stands on; its texts last until the next.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string_view text(int column) const;

 private:
  sqlite3_stmt* statement_;
};

using BoundValue = std::variant<std::int64_t, std::string_view>;

enum class Access : std::uint8_t { kRead, kWrite };

// What a schema is made of: statements that bring version n to n + 1, from version 0 on.
using Migrations = std::span<const std::string_view>;

class Database {
 public:
  static constexpr int kLongestValue = 4 << 20;  // bytes

  // To be written, the file is made where there is none, in folders that are made too: both for
  // nobody but the user. To be read, the file must be there.
  static Result<Database> open(const std::filesystem::path& path, Access access,
                               Migrations migrations);
  static Result<Database> in_memory();

  // Of the schema that the file has.
  [[nodiscard]] std::int64_t version() const { return version_; }

  // One statement. `take` gets its rows.
  [[nodiscard]] Result<void> run(std::string_view sql,
                                 std::initializer_list<BoundValue> values = {},
                                 const std::function<void(const Row&)>& take = {});

  // `work` and its changes whole or not at all: committed where it answers no Error. Another writer
  // is waited for, ten seconds.
  [[nodiscard]] Result<void> whole(const std::function<Result<void>()>& work);

 private:
  struct CloseDatabase {
    void operator()(sqlite3* database) const;
  };

  Database() = default;
  [[nodiscard]] tl::unexpected<Error> failed(int code) const;
  [[nodiscard]] Result<void> connect(const std::string& name, int flags);
  [[nodiscard]] Result<void> check_identity();
  [[nodiscard]] Result<void> begin_writing(Migrations migrations);
  [[nodiscard]] Result<std::int64_t> pragma(std::string_view sql);
  void protect();

  std::unique_ptr<sqlite3, CloseDatabase> database_;
  std::string where_;
  std::int64_t version_ = 0;
};

}  // namespace sextant::kb
