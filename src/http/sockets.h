// TCP: to a server, and of one on this machine. No call waits longer than its Patience.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/stream.h"

namespace sextant::http {

// A name's addresses are tried one after another.
Result<std::unique_ptr<Stream>> connected(const std::string& host, std::uint16_t port,
                                          const Patience& patience);

class Listener {
 public:
  // REQUIRES: `address` is 127.0.0.1 or ::1; no other is ever listened on. Port 0: any free one.
  static Result<Listener> open(const std::string& address, std::uint16_t port);
  ~Listener();
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&& other) noexcept;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // Null where nobody came within the patience.
  [[nodiscard]] Result<std::unique_ptr<Stream>> accept(const Patience& patience) const;

 private:
  Listener(int socket, std::uint16_t port) : socket_(socket), port_(port) {}

  int socket_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace sextant::http
