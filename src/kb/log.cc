#include "kb/log.h"

#include <utility>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text.h"
#include "kb/secrets.h"
#include "kb/store.h"

namespace sextant::kb {
namespace {

// Lengths stand before the texts, so that no two events are the same bytes.
std::string next_link(std::string_view before, std::string_view session, std::int64_t place,
                      std::string_view kind, const Event& event) {
  return sha256_hex(fmt::format("{}\n{}:{}\n{}\n{}\n{}:{}\n{}:{}", before, session.size(), session,
                                place, kind, event.at.size(), event.at, event.text.size(),
                                event.text));
}

Result<void> check_event(std::string_view session, const Event& event, const std::string& where) {
  if (session.empty() || session.size() > Log::kLongestName || first_invalid_utf8(session) ||
      event.at.empty() || event.at.size() > Log::kLongestName || first_invalid_utf8(event.at)) {
    return invalid("an event needs a session and a time", where,
                   fmt::format("texts of 1 to {} bytes", Log::kLongestName));
  }
  if (event.text.size() > Log::kLongestText || first_invalid_utf8(event.text)) {
    return invalid(fmt::format("an event of {} bytes", event.text.size()), where,
                   fmt::format("UTF-8 of at most {} bytes", Log::kLongestText));
  }
  return {};
}

// Where the session stands: its number, and its last event.
struct Standing {
  std::int64_t number = 0;  // 0: not begun
  std::int64_t place = 0;
  std::string link;
};

Result<Standing> standing_of(Database& database, std::string_view session) {
  Standing standing;
  SEXTANT_CHECK_OK(database.run("SELECT number FROM sessions WHERE name = ?1", {session},
                                [&](const Row& row) { standing.number = row.integer(0); }));
  SEXTANT_CHECK_OK(
      database.run("SELECT place, chain FROM events WHERE session = ?1 ORDER BY place DESC LIMIT 1",
                   {standing.number}, [&](const Row& row) {
                     standing.place = row.integer(0);
                     standing.link = row.text(1);
                   }));
  return standing;
}

}  // namespace

Result<Log> Log::open(const std::filesystem::path& path, Access access) {
  Log log;
  log.where_ = path.string();
  std::error_code ignored;
  if (access == Access::kRead && (path.empty() || !std::filesystem::exists(path, ignored))) {
    return log;
  }
  SEXTANT_TRY(Database database, Database::open(path, access, store_migrations()));
  if (database.version() == static_cast<std::int64_t>(store_migrations().size())) {
    log.database_ = std::move(database);
  }  // else an older file, which has no log yet
  return log;
}

Result<std::int64_t> Log::append(std::string_view session, const Event& event) {
  if (!database_) {
    return invalid("the log is not open to be written", where_, "one that is");
  }
  Database& database = *database_;
  SEXTANT_CHECK_OK(check_event(session, event, where_));
  const std::string_view kind = describe::word_of<EventKind>(kEventKindWords, event.kind);
  const Event kept{.kind = event.kind, .at = event.at, .text = redacted(event.text)};
  std::int64_t place = 0;
  const auto stored = database.whole([&]() -> Result<void> {
    SEXTANT_TRY(Standing standing, standing_of(database, session));
    if (standing.number == 0) {
      SEXTANT_CHECK_OK(database.run("INSERT INTO sessions(name, begun_at) VALUES(?1, ?2)",
                                    {session, std::string_view(kept.at)}));
      SEXTANT_TRY(standing, standing_of(database, session));
    }
    place = standing.place + 1;
    const std::string link = next_link(standing.link, session, place, kind, kept);
    return database.run(
        "INSERT INTO events(session, place, kind, at, text, chain) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
        {standing.number, place, kind, std::string_view(kept.at), std::string_view(kept.text),
         std::string_view(link)});
  });
  SEXTANT_CHECK_OK(stored);
  return place;
}

Result<std::vector<Session>> Log::sessions() {
  std::vector<Session> found;
  if (!database_) {
    return found;
  }
  SEXTANT_CHECK_OK(database_->run(
      "SELECT name, begun_at, (SELECT count(*) FROM events WHERE session = number) FROM sessions "
      "ORDER BY number",
      {}, [&found](const Row& row) {
        found.push_back({std::string(row.text(0)), std::string(row.text(1)), row.integer(2)});
      }));
  return found;
}

Result<void> Log::replay(std::string_view session,
                         const std::function<void(const LoggedEvent&)>& take) {
  const auto no_session = [&] {
    return not_found(fmt::format("no session '{}'", printable(session)), where_);
  };
  if (!database_) {
    return no_session();
  }
  SEXTANT_TRY(const Standing standing, standing_of(*database_, session));
  if (standing.number == 0) {
    return no_session();
  }
  std::string link;
  std::int64_t place = 0;
  std::optional<Error> broken;
  const auto take_row = [&](const Row& row) {
    if (broken) {
      return;
    }
    place += 1;
    const std::string kind_word(row.text(1));
    auto kind = describe::parse_word<EventKind>(kEventKindWords, kind_word, "kind", where_);
    LoggedEvent logged{.place = row.integer(0),
                       .event = {.at = std::string(row.text(2)), .text = std::string(row.text(3))},
                       .chain = std::string(row.text(4))};
    link = next_link(link, session, place, kind_word, logged.event);
    if (!kind || logged.place != place || link != logged.chain) {
      broken =
          Error{ErrorKind::kInvalid,
                fmt::format("event {} of '{}' is not what was written", place, printable(session)),
                where_, "a log that nobody changed"};
      return;
    }
    logged.event.kind = *kind;
    take(logged);
  };
  SEXTANT_CHECK_OK(database_->run(
      "SELECT place, kind, at, text, chain FROM events WHERE session = ?1 ORDER BY place",
      {standing.number}, take_row));
  return broken ? Result<void>(tl::unexpected(std::move(*broken))) : Result<void>();
}

}  // namespace sextant::kb
