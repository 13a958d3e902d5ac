// A server for whoever is on this machine: it listens on loopback alone, every request is checked
// for Host and Origin and bounded, and so is the number of connections.
//
// Each connection has a thread, in which the handler runs; it may take its time, and learns by
// gone() that nobody waits any more.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "http/access.h"
#include "http/message.h"

namespace sextant::http {

// The reply to one request: whole by answer(), or begin() and piece after piece by write().
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange(Exchange&&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  Exchange& operator=(Exchange&&) = delete;
  virtual ~Exchange() = default;

  // Content-Length is added. REQUIRES: nothing was answered or begun.
  virtual void answer(const Reply& reply) = 0;
  // REQUIRES: the same.
  virtual void begin(int status, const Headers& headers) = 0;
  // Goes out at once. False: whoever asked is gone. REQUIRES: begun.
  virtual bool write(std::string_view bytes) = 0;
  // True once whoever asked has hung up or the server stops: an answer is for nobody.
  [[nodiscard]] virtual const std::atomic<bool>& gone() const = 0;
};

// Called by several threads at once. What it leaves unanswered, or throws in, is answered with 500.
using Handler = std::function<void(const Request&, Exchange&)>;

struct ServerOptions {
  std::string address = "127.0.0.1";  // or "::1"
  std::uint16_t port = 0;             // 0: any free one
  Access access = {};
  MessageLimits limits = {};
  std::size_t connections = 32;           // further ones are answered with 503
  Seconds request_limit = Seconds(30.0);  // from a request's first byte to its last
  Seconds idle_limit = Seconds(30.0);     // between two requests of a connection
};

class Server {
 public:
  // Listens when it returns.
  static Result<Server> start(const ServerOptions& options, Handler handler);
  // Stops it: handlers learn that they are for nobody, and are waited for.
  ~Server();
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  void stop();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sextant::http
