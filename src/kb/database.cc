#include "kb/database.h"

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant::kb {
namespace {

// "SXTK": tells our files from those of other programs.
constexpr std::int64_t kApplication = 0x5358544B;
constexpr int kPatience = 10'000;    // milliseconds that another writer is waited for
constexpr int kPauseForJournal = 5;  // milliseconds
constexpr int kTriesForJournal = 2'000;

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

// What a URI takes for itself stands as %XX.
std::string uri_of_file(const std::filesystem::path& path, std::string_view query) {
  std::string uri = "file:";
  for (const char c : path.string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      uri += c;
    }
  }
  return uri.append(query);
}

// The file, empty, where there is none. SQLite gives its journals the file's permissions.
Result<void> make_private_file(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path folder = path.parent_path();
  if (!folder.empty() && !std::filesystem::exists(folder, error)) {
    std::filesystem::create_directories(folder.parent_path(), error);
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      const std::error_code reason(errno, std::generic_category());
      return external("can't be made: " + reason.message(), folder.string());
    }
  }
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) {
    const std::error_code reason(errno, std::generic_category());
    return external("can't be written: " + reason.message(), path.string());
  }
  ::close(file);
  return {};
}

int bind_value(sqlite3_stmt* statement, int place, const BoundValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return sqlite3_bind_int64(statement, place, *number);
  }
  const std::string_view text = std::get<std::string_view>(value);
  // Bound values outlive the statement that they are bound to.
  return sqlite3_bind_text64(statement, place, text.data(), text.size(), SQLITE_STATIC,
                             SQLITE_UTF8);
}

bool is_busy(int code) {
  return (code & 0xFF) == SQLITE_BUSY || (code & 0xFF) == SQLITE_LOCKED;
}

}  // namespace

std::int64_t Row::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Row::real(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::string_view Row::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return text == nullptr ? std::string_view()
                         : std::string_view(reinterpret_cast<const char*>(text),
                                            static_cast<std::size_t>(size));
}

void Database::CloseDatabase::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

tl::unexpected<Error> Database::failed(int code) const {
  const int kind = code & 0xFF;
  if (kind == SQLITE_NOTADB || kind == SQLITE_CORRUPT) {
    return invalid(
        fmt::format("is damaged, or no knowledge base: {}", sqlite3_errmsg(database_.get())),
        where_, "a file that «kb» made; move this one away to begin anew");
  }
  return external(is_busy(code) ? "another program keeps it locked"
                                : fmt::format("sqlite: {}", sqlite3_errmsg(database_.get())),
                  where_);
}

Result<void> Database::connect(const std::string& name, int flags) {
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(name.c_str(), &raw, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  database_.reset(raw);
  if (code != SQLITE_OK) {
    return external(fmt::format("sqlite cannot open it: {}", sqlite3_errstr(code)), where_);
  }
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, kPatience);
  protect();
  return {};
}

void Database::protect() {
  constexpr std::array<std::pair<int, int>, 6> kSwitches{
      {{SQLITE_DBCONFIG_DEFENSIVE, 1},
       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
       {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
       {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
       {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
       {SQLITE_DBCONFIG_ENABLE_FKEY, 1}}};
  for (const auto& [which, on] : kSwitches) {
    sqlite3_db_config(database_.get(), which, on, nullptr);
  }
  constexpr std::array<std::pair<int, int>, 3> kLimits{{{SQLITE_LIMIT_LENGTH, kLongestValue},
                                                        {SQLITE_LIMIT_SQL_LENGTH, 1 << 16},
                                                        {SQLITE_LIMIT_ATTACHED, 0}}};
  for (const auto& [limit, value] : kLimits) {
    sqlite3_limit(database_.get(), limit, value);
  }
}

Result<void> Database::run(std::string_view sql, std::initializer_list<BoundValue> values,
                           const std::function<void(const Row&)>& take) {
  sqlite3_stmt* raw = nullptr;
  int code =
      sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  const Statement statement(raw);
  int place = 0;
  for (const BoundValue& value : values) {
    place += 1;
    code = code == SQLITE_OK ? bind_value(raw, place, value) : code;
  }
  if (code != SQLITE_OK) {
    return failed(code);
  }
  for (code = sqlite3_step(raw); code == SQLITE_ROW; code = sqlite3_step(raw)) {
    if (take) {
      take(Row(raw));
    }
  }
  return code == SQLITE_DONE ? Result<void>() : failed(code);
}

Result<std::int64_t> Database::pragma(std::string_view sql) {
  std::int64_t value = 0;
  SEXTANT_CHECK_OK(run(sql, {}, [&value](const Row& row) { value = row.integer(0); }));
  return value;
}

Result<void> Database::whole(const std::function<Result<void>()>& work) {
  SEXTANT_CHECK_OK(run("BEGIN IMMEDIATE"));
  Result<void> done = work();
  if (done) {
    done = run("COMMIT");
  }
  if (!done) {
    // Where this fails too there is nothing left to take back.
    static_cast<void>(run("ROLLBACK"));
  }
  return done;
}

// Whose file is it, and whole? A file without tables is ours to be. All in one snapshot: who asks
// while another makes the file would else see its tables without its mark.
Result<void> Database::check_identity() {
  SEXTANT_CHECK_OK(run("BEGIN"));
  const auto look = [this]() -> Result<void> {
    SEXTANT_TRY(const std::int64_t application, pragma("PRAGMA application_id"));
    SEXTANT_TRY(version_, pragma("PRAGMA user_version"));
    SEXTANT_TRY(const std::int64_t tables, pragma("SELECT count(*) FROM sqlite_schema"));
    if (application != kApplication && (tables != 0 || application != 0)) {
      return invalid("is the database of another program", where_, "a file that «kb» made");
    }
    std::string verdict;
    SEXTANT_CHECK_OK(
        run("PRAGMA quick_check(1)", {}, [&verdict](const Row& row) { verdict = row.text(0); }));
    if (verdict != "ok") {
      return invalid(fmt::format("is damaged: {}", verdict), where_,
                     "move it away to begin anew, or put back a copy");
    }
    return {};
  };
  Result<void> seen = look();
  static_cast<void>(run("COMMIT"));
  return seen;
}

Result<void> Database::begin_writing(Migrations migrations) {
  // Two that open a new file at once: one is told «busy» without waiting, so it asks again.
  std::string journal;
  Result<void> done;
  for (int i = 0; i < kTriesForJournal && journal != "wal"; ++i) {
    done = run("PRAGMA journal_mode=WAL", {}, [&](const Row& row) { journal = row.text(0); });
    if (journal != "wal") {
      sqlite3_sleep(kPauseForJournal);
    }
  }
  SEXTANT_CHECK_OK(std::move(done));
  SEXTANT_CHECK_OK(run("PRAGMA synchronous=FULL"));
  return whole([&]() -> Result<void> {
    SEXTANT_TRY(version_, pragma("PRAGMA user_version"));  // another may have been here first
    if (version_ >= static_cast<std::int64_t>(migrations.size())) {
      return {};
    }
    for (; version_ < static_cast<std::int64_t>(migrations.size()); ++version_) {
      SEXTANT_CHECK_OK(run(migrations[static_cast<std::size_t>(version_)]));
    }
    SEXTANT_CHECK_OK(run(fmt::format("PRAGMA application_id={}", kApplication)));
    return run(fmt::format("PRAGMA user_version={}", version_));
  });
}

Result<Database> Database::open(const std::filesystem::path& path, Access access,
                                Migrations migrations) {
  Database opened;
  opened.where_ = path.string();
  if (access == Access::kWrite) {
    SEXTANT_CHECK_OK(make_private_file(path));
  }
  const int flags = access == Access::kWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  SEXTANT_CHECK_OK(opened.connect(uri_of_file(path, ""), flags));
  Result<void> identity = opened.check_identity();
  std::error_code ignored;
  if (!identity && access == Access::kRead && identity.error().kind == ErrorKind::kExternal &&
      !std::filesystem::exists(path.string() + "-wal", ignored)) {
    // In a folder that may not be written a reader can't have its part of the log; without a log
    // there is nothing in it.
    SEXTANT_CHECK_OK(opened.connect(uri_of_file(path, "?immutable=1"), flags));
    identity = opened.check_identity();
  }
  SEXTANT_CHECK_OK(std::move(identity));
  if (opened.version_ > static_cast<std::int64_t>(migrations.size())) {
    return invalid(fmt::format("has the schema {} of a newer program", opened.version_),
                   opened.where_, fmt::format("schemas up to {}", migrations.size()));
  }
  if (access == Access::kWrite) {
    SEXTANT_CHECK_OK(opened.begin_writing(migrations));
  }
  return opened;
}

Result<Database> Database::in_memory() {
  Database opened;
  opened.where_ = "memory";
  SEXTANT_CHECK_OK(opened.connect(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY));
  return opened;
}

}  // namespace sextant::kb
