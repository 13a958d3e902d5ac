// The Sharding Memory: what happened in a tuning session, in order: each call of a tool, its reply,
// each proposal and each verdict. Append-only and crash-safe: an event is on the disk when append
// returns, and nothing here changes or removes one. Secrets are taken out before (secrets.h).
//
// Every event carries a link of a chain: SHA-256 over the link before it and all that the event
// says. A replay makes the chain anew, so an event that was changed, removed from the middle, put
// in or moved is found out. Not found out: events missing at the end, and a chain made anew as a
// whole.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "describe/words.h"
#include "kb/database.h"

namespace sextant::kb {

enum class EventKind : std::uint8_t { kToolCall, kReply, kProposal, kVerdict };
inline constexpr std::array<describe::Word<EventKind>, 4> kEventKindWords{
    {{EventKind::kToolCall, "tool-call"},
     {EventKind::kReply, "reply"},
     {EventKind::kProposal, "proposal"},
     {EventKind::kVerdict, "verdict"}}};

struct Event {
  EventKind kind = EventKind::kToolCall;
  std::string at = {};    // RFC 3339, UTC
  std::string text = {};  // UTF-8, at most Log::kLongestText; JSON where a program reads it again
  bool operator==(const Event&) const = default;
};

struct LoggedEvent {
  std::int64_t place = 0;  // in its session, from 1
  Event event = {};
  std::string chain = {};
};

struct Session {
  std::string name;
  std::string begun_at;
  std::int64_t events = 0;
};

class Log {
 public:
  static constexpr std::size_t kLongestText = 1 << 20;
  static constexpr std::size_t kLongestName = 200;

  // To be read, a file that is not there has no sessions.
  static Result<Log> open(const std::filesystem::path& path, Access access);

  // The event's place in the session, which begins with its first event. Several processes may
  // append at once, to one session too.
  // REQUIRES: opened to be written.
  [[nodiscard]] Result<std::int64_t> append(std::string_view session, const Event& event);

  // In the order in which they began.
  [[nodiscard]] Result<std::vector<Session>> sessions();

  // Every event of the session in order, each after its link was checked. An Error where there is
  // no such session, or at the first event that is not what was written.
  [[nodiscard]] Result<void> replay(std::string_view session,
                                    const std::function<void(const LoggedEvent&)>& take);

 private:
  Log() = default;

  std::optional<Database> database_;
  std::string where_;
};

}  // namespace sextant::kb
