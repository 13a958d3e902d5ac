#include "profile/nsys_database.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/file.h"
#include "base/read_fence.h"
#include "base/text.h"

namespace sextant::profile {
namespace {

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};
constexpr std::size_t kHeaderBytes = 100;
constexpr Bytes kMostHeld = 1_GiB;  // behind a fence
// Tables and columns that are remembered: exports have some 150 tables.
constexpr std::size_t kMostTables = 2'000;
constexpr std::size_t kMostColumns = 200;
constexpr std::size_t kLongestName = 256;
// How often the budget is looked at, and what it is: a row costs some 40 steps.
constexpr int kStepsBetweenLooks = 10'000;
constexpr std::int64_t kFreeSteps = 10'000'000;
constexpr std::int64_t kStepsAByte = 16;

int forbid_all_but_reading(void* /*unused*/, int action, const char* first, const char* second,
                           const char* /*database*/, const char* /*trigger*/) {
  if (action == SQLITE_SELECT || action == SQLITE_READ) {
    return SQLITE_OK;
  }
  if (action == SQLITE_PRAGMA && first != nullptr && std::strcmp(first, "table_info") == 0) {
    return SQLITE_OK;
  }
  static_cast<void>(second);
  return SQLITE_DENY;
}

int stop_when_spent(void* left) {
  auto& steps = *static_cast<std::int64_t*>(left);
  steps -= kStepsBetweenLooks;
  return steps < 0 ? 1 : 0;
}

// What a URI takes for itself stands as %XX.
std::string uri_of(const std::filesystem::path& path) {
  std::string uri = "file:";
  for (const char c : path.string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?mode=ro&immutable=1";
}

// Source: SQLite, Database File Format, 1.3: the size of a page at byte 16, big end first (1 means
// 65536), how many there are at byte 28.
std::int64_t stated_size(std::string_view header) {
  if (header.size() < 32) {
    return 0;
  }
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::int64_t value = 0;
    for (std::size_t i = at; i < at + bytes; ++i) {
      value = value * 256 + static_cast<unsigned char>(header[i]);
    }
    return value;
  };
  const std::int64_t page = number(16, 2) == 1 ? 65'536 : number(16, 2);
  return page * number(28, 4);
}

void set_limits(sqlite3* database) {
  constexpr std::array<std::pair<int, int>, 11> kLimits{
      {{SQLITE_LIMIT_LENGTH, Database::kLongestValue},
       {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
       {SQLITE_LIMIT_COLUMN, static_cast<int>(kMostColumns)},
       {SQLITE_LIMIT_EXPR_DEPTH, 50},
       {SQLITE_LIMIT_COMPOUND_SELECT, 3},
       {SQLITE_LIMIT_VDBE_OP, 25'000},
       {SQLITE_LIMIT_FUNCTION_ARG, 8},
       {SQLITE_LIMIT_ATTACHED, 0},
       {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
       {SQLITE_LIMIT_VARIABLE_NUMBER, 4},
       {SQLITE_LIMIT_TRIGGER_DEPTH, 1}}};
  for (const auto& [limit, value] : kLimits) {
    sqlite3_limit(database, limit, value);
  }
}

void distrust(sqlite3* database) {
  constexpr std::array<std::pair<int, int>, 7> kSwitches{
      {{SQLITE_DBCONFIG_DEFENSIVE, 1},
       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
       {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
       {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
       {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
       {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
       {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}}};
  for (const auto& [which, on] : kSwitches) {
    sqlite3_db_config(database, which, on, nullptr);
  }
  // Pages in memory rather than mapped (a mapped file that shrinks kills the process), each looked
  // at before it is used, 16 MiB of them.
  sqlite3_exec(database,
               "PRAGMA mmap_size=0; PRAGMA cell_size_check=1; PRAGMA cache_size=-16384; "
               "PRAGMA temp_store=2; PRAGMA query_only=1;",
               nullptr, nullptr, nullptr);
}

}  // namespace

bool DatabaseRow::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::optional<std::int64_t> DatabaseRow::integer(int column) const {
  const int type = sqlite3_column_type(statement_, column);
  if (type == SQLITE_INTEGER) {
    return sqlite3_column_int64(statement_, column);
  }
  if (type == SQLITE_FLOAT) {
    const double value = sqlite3_column_double(statement_, column);
    // 2^53: beyond it a double has no fraction to lose, and no exact neighbour either.
    if (std::floor(value) == value && std::abs(value) <= 9007199254740992.0) {
      return static_cast<std::int64_t>(value);
    }
  }
  return std::nullopt;
}

std::string_view DatabaseRow::text(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_TEXT) {
    return {};
  }
  const unsigned char* text = sqlite3_column_text(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return text == nullptr ? std::string_view()
                         : std::string_view(reinterpret_cast<const char*>(text),
                                            static_cast<std::size_t>(size));
}

void Database::CloseDatabase::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

void Database::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Result<Database> Database::open(const std::filesystem::path& path) {
  const std::string where = path.string();
  if (fence_stands()) {
    // sqlite opens by name, which may have come to mean another file.
    SEXTANT_TRY(const std::string bytes, read_file(path, kMostHeld));
    return held(bytes, where);
  }
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed) || failed) {
    return not_found("no such file, or not a plain one", where);
  }
  std::array<char, kHeaderBytes> header{};
  std::ifstream(path, std::ios::binary).read(header.data(), header.size());
  if (!std::string_view(header.data(), header.size()).starts_with(kSqliteMagic)) {
    return invalid("this is not a sqlite database", where);
  }
  Database opened;
  opened.size_ = static_cast<std::int64_t>(std::filesystem::file_size(path, failed));
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(uri_of(path).c_str(), &raw,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  opened.database_.reset(raw);
  if (failed || code != SQLITE_OK) {
    return external(fmt::format("sqlite cannot open it: {}", sqlite3_errstr(code)), where);
  }
  SEXTANT_CHECK_OK(opened.prepare({header.data(), header.size()}, where));
  return opened;
}

Result<Database> Database::held(std::string_view bytes, const std::string& where) {
  if (!bytes.starts_with(kSqliteMagic)) {
    return invalid("this is not a sqlite database", where);
  }
  Database opened;
  opened.size_ = static_cast<std::int64_t>(bytes.size());
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(
      ":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, nullptr);
  opened.database_.reset(raw);
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
  if (code != SQLITE_OK || copy == nullptr) {
    sqlite3_free(copy);
    return external("sqlite has no memory for it", where);
  }
  std::memcpy(copy, bytes.data(), bytes.size());
  // It frees the copy, also where it fails.
  if (sqlite3_deserialize(raw, "main", copy, opened.size_, opened.size_,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) !=
      SQLITE_OK) {
    return invalid("sqlite cannot read it", where);
  }
  SEXTANT_CHECK_OK(opened.prepare(bytes.substr(0, kHeaderBytes), where));
  return opened;
}

Result<void> Database::prepare(std::string_view header, const std::string& where) {
  sqlite3* database = database_.get();
  missing_ = std::max<std::int64_t>(0, stated_size(header) - size_);
  set_limits(database);
  distrust(database);
  if (missing_ > 0) {
    // Else sqlite refuses a file that is shorter than it says; nothing can be written either way.
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
  }
  sqlite3_set_authorizer(database, forbid_all_but_reading, nullptr);
  work_ = std::make_unique<Work>();
  work_->left = kFreeSteps + kStepsAByte * size_;
  sqlite3_progress_handler(database, kStepsBetweenLooks, stop_when_spent, &work_->left);

  // A virtual table has no root page; only plain tables do.
  const Statement tables =
      statement("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0");
  if (!tables) {
    return invalid(fmt::format("sqlite cannot read its schema: {}", sqlite3_errmsg(database)),
                   where);
  }
  int code = sqlite3_step(tables.get());
  for (; code == SQLITE_ROW && columns_.size() < kMostTables; code = sqlite3_step(tables.get())) {
    const std::string_view name = DatabaseRow(tables.get()).text(0);
    if (!name.empty() && name.size() <= kLongestName && name.find('"') == std::string_view::npos) {
      columns_.try_emplace(std::string(name));
    }
  }
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    return invalid(fmt::format("sqlite cannot read its schema: {}", sqlite3_errmsg(database)),
                   where);
  }
  for (auto& [table, columns] : columns_) {
    const Statement info = statement(fmt::format("PRAGMA table_info(\"{}\")", table));
    while (info && sqlite3_step(info.get()) == SQLITE_ROW && columns.size() < kMostColumns) {
      columns.emplace(DatabaseRow(info.get()).text(1).substr(0, kLongestName));
    }
  }
  return {};
}

Database::Statement Database::statement(const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  sqlite3_prepare_v3(database_.get(), sql.c_str(), static_cast<int>(sql.size()), 0, &raw, nullptr);
  return Statement(raw);
}

bool Database::has(std::string_view table) const {
  return columns_.contains(table);
}

bool Database::has(std::string_view table, std::string_view column) const {
  const auto known = columns_.find(table);
  return known != columns_.end() && known->second.contains(column);
}

std::string Database::for_each(std::string_view table, std::span<const std::string_view> columns,
                               const std::function<void(const DatabaseRow&)>& take) {
  if (!has(table)) {
    return {};
  }
  std::string sql = "SELECT ";
  for (const std::string_view column : columns) {
    sql += sql.size() > 7 ? ", " : "";
    sql += has(table, column) ? fmt::format("\"{}\"", column) : "NULL";
  }
  const Statement rows = statement(sql + fmt::format(" FROM \"{}\" NOT INDEXED", table));
  if (!rows) {
    return fmt::format("{}: {}", table, sqlite3_errmsg(database_.get()));
  }
  std::int64_t left = size_ / kFewestBytesARow;
  int code = sqlite3_step(rows.get());
  for (; code == SQLITE_ROW; code = sqlite3_step(rows.get())) {
    if (left-- == 0) {
      return fmt::format("{}: more rows than the file has room for", table);
    }
    take(DatabaseRow(rows.get()));
  }
  if (code == SQLITE_INTERRUPT) {
    return fmt::format("{}: reading takes more steps than a file of its size can need", table);
  }
  return code == SQLITE_DONE ? std::string()
                             : fmt::format("{}: {}", table, sqlite3_errmsg(database_.get()));
}

std::string Database::string_of(std::int64_t id, std::size_t longest) {
  if (!string_of_) {
    if (!has("StringIds", "id") || !has("StringIds", "value")) {
      return {};
    }
    string_of_ = statement("SELECT value FROM StringIds WHERE id = ?1 LIMIT 1");
  }
  if (!string_of_) {
    return {};
  }
  sqlite3_bind_int64(string_of_.get(), 1, id);
  std::string found;
  if (sqlite3_step(string_of_.get()) == SQLITE_ROW) {
    found = DatabaseRow(string_of_.get()).text(0).substr(0, longest);
  }
  sqlite3_reset(string_of_.get());
  return found;
}

}  // namespace sextant::profile
