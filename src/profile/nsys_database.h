// A sqlite file that somebody else wrote, read and never written. It may lie: pages that refer to
// themselves, columns of another type, virtual tables, triggers, views, strings of a gigabyte. So:
// opened read-only and immutable (no journal is looked for, no lock taken), nothing but plain
// tables is asked, an authorizer allows reading alone, values are at most kLongestValue, and both
// rows and steps of sqlite's machine are bounded by the file's size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace sextant::profile {

// The row that a query stands on; texts last until the next one.
class DatabaseRow {
 public:
  explicit DatabaseRow(sqlite3_stmt* statement) : statement_(statement) {}
  [[nodiscard]] bool is_null(int column) const;
  // Nothing where there is no whole number.
  [[nodiscard]] std::optional<std::int64_t> integer(int column) const;
  // Empty where there is no text.
  [[nodiscard]] std::string_view text(int column) const;

 private:
  sqlite3_stmt* statement_;
};

class Database {
 public:
  static constexpr int kLongestValue = 16 << 20;  // bytes
  // Source: SQLite, Database File Format, 2.1: a leaf cell of a table has a size, a row number and
  // a header of one byte a column; no row of more than two columns takes less.
  static constexpr std::int64_t kFewestBytesARow = 4;

  static Result<Database> open(const std::filesystem::path& path);
  // A database's bytes; a copy is kept. For tests and fuzzing.
  static Result<Database> held(std::string_view bytes, const std::string& where);

  // Bytes of the file, and how many it lacks of what its header says.
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t missing() const { return missing_; }
  [[nodiscard]] bool has(std::string_view table) const;
  [[nodiscard]] bool has(std::string_view table, std::string_view column) const;

  // Every row of the table, in the order in which it is stored: `take` gets the columns asked for,
  // null where the table has none of that name. A table that is not there has no rows. Says how
  // the reading ended early; empty: it did not. REQUIRES: names without quotes.
  std::string for_each(std::string_view table, std::span<const std::string_view> columns,
                       const std::function<void(const DatabaseRow&)>& take);
  // The text of that number in StringIds, at most `longest` bytes of it; empty where there is none.
  std::string string_of(std::int64_t id, std::size_t longest);

 private:
  struct CloseDatabase {
    void operator()(sqlite3* database) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;
  // Steps of sqlite's machine that are left; where it lies must not move.
  struct Work {
    std::int64_t left = 0;
  };

  Database() = default;
  Result<void> prepare(std::string_view header, const std::string& where);
  Statement statement(const std::string& sql);
  std::string read_columns(const std::string& table);

  std::unique_ptr<Work> work_;
  std::unique_ptr<sqlite3, CloseDatabase> database_;
  Statement string_of_;
  std::int64_t size_ = 0;
  std::int64_t missing_ = 0;
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> columns_;
};

}  // namespace sextant::profile
