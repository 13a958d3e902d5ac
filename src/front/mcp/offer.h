// What a server offers, as values. The protocol (server.h) knows nothing of Sextant, and whoever
// fills an Offer nothing of messages, eras and transports.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "front/mcp/json.h"
#include "front/mcp/message.h"

namespace sextant::front::mcp {

// The two ways of the protocol that are spoken.
enum class Era : std::uint8_t {
  kHandshake,  // 2025-11-25: initialize first
  kStateless,  // 2026-07-28: each request says all of itself
};

inline constexpr std::string_view kStatelessVersion = "2026-07-28";
inline constexpr std::string_view kHandshakeVersion = "2025-11-25";

// How much what is logged matters, as RFC 5424 has it; the least first.
enum class LogLevel : std::uint8_t {
  kDebug,
  kInfo,
  kNotice,
  kWarning,
  kError,
  kCritical,
  kAlert,
  kEmergency,
  kSilent,  // above all: nothing is sent
};
// "warning"; nothing where it is no level.
std::optional<LogLevel> log_level(std::string_view word);

// One request, as its handler sees it.
struct Call {
  const Json& params;
  Era era = Era::kStateless;
  const Json& capabilities;  // that the client declared; empty where it did not
  std::string client = {};   // its name, as it says; "": it does not
  const std::atomic<bool>& stop;
  // How far it is: a number that grows, of how many (0: not known), and words. Does nothing where
  // nobody asked for it.
  std::function<void(std::int64_t done, std::int64_t of, const std::string& words)> progress;
  // Words for whoever reads the client's log. Does nothing where less than that level was asked
  // for, or nothing at all.
  std::function<void(LogLevel level, const std::string& words)> log;
};

using Handled = tl::expected<Json, Failure>;
using Handler = std::function<Handled(const Call&)>;

// `listed` is what a list shows of it, with its name.
struct Named {
  Json listed;
  Handler handle;
};

struct Offer {
  Json info;  // {"name": …, "title": …, "version": …}
  std::string instructions;
  std::vector<Named> tools;
  std::vector<Named> prompts;
  Json resources = Json::array();
  Json templates = Json::array();
  // Of a uri; an empty value: there is no such resource.
  std::function<tl::expected<Json, Failure>(const std::string& uri, const Call&)> read;
  Handler complete;
};

}  // namespace sextant::front::mcp
