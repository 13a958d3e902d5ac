// Sessions of the handshake's era over HTTP: what a client of 2025-11-25 is told apart by, so that
// it can cancel its own requests and nobody else's, and is sent what it asked for of the log. The
// other era has none.
//
// At most kMostSessions; the one that was used longest ago ends for a new one.
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "front/mcp/in_flight.h"
#include "front/mcp/offer.h"

namespace sextant::front::mcp {

inline constexpr std::size_t kMostSessions = 256;

struct Session {
  InFlight requests = {};
  std::atomic<LogLevel> log_level = LogLevel::kSilent;
};

class Sessions {
 public:
  // Its id cannot be guessed: 128 random bits in hex.
  std::string begin();
  // Null where there is none, or no longer.
  std::shared_ptr<Session> find(const std::string& id);
  // False where there is none. What it still asks is stopped.
  bool end(const std::string& id);

 private:
  struct Place {
    std::shared_ptr<Session> session;
    std::list<std::string>::iterator turn;
  };
  std::mutex mutex_;
  std::map<std::string, Place> places_;
  std::list<std::string> turns_;  // the one used last is the first
};

}  // namespace sextant::front::mcp
