// The protocol without a transport: a request in, its answer out, in both eras.
//
// A request whose params._meta says a protocol version is served by itself (2026-07-28), whatever
// came before it. Any other is served as the handshake's revision (2025-11-25) has it. Which of the
// two a request is decides everything else: which methods there are, what a result carries, which
// errors are told apart.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "front/mcp/message.h"
#include "front/mcp/offer.h"

namespace sextant::front::mcp {

// Headers of a POST that repeat what its body says.
struct RequestHeaders {
  std::optional<std::string> version;  // MCP-Protocol-Version
  std::optional<std::string> method;   // Mcp-Method
  std::optional<std::string> name;     // Mcp-Name
};

// What the transport knows of a request.
struct Exchange {
  const std::atomic<bool>& stop;
  std::function<void(const Json& notification)> notify;
  bool handshaken = false;  // an initialize was answered on this connection
  // What the connection, or session, asked to be sent of the log; null: nothing is kept of it.
  std::atomic<LogLevel>* log_level = nullptr;
  std::optional<RequestHeaders> headers = {};  // over HTTP
};

struct Answer {
  Json message;
  int http_status = 200;
  [[nodiscard]] bool is_error() const { return message.contains("error"); }
};

class Server {
 public:
  explicit Server(Offer offer) : offer_(std::move(offer)) {}

  // From any number of threads at a time.
  [[nodiscard]] Answer answer(const Request& request, const Exchange& exchange) const;

 private:
  [[nodiscard]] Handled handled(const Request& request, const Exchange& exchange, Era era) const;
  [[nodiscard]] Json capabilities() const;
  [[nodiscard]] Json handshake(const Json& params) const;
  [[nodiscard]] Json discovered() const;
  [[nodiscard]] static Handled set_log_level(const Json& params, const Exchange& exchange);
  [[nodiscard]] Handled dispatched(const std::string& method, const Call& call) const;
  [[nodiscard]] Handled read(const Call& call) const;

  Offer offer_;
};

// Is it one whose answer may take long?
bool may_take_long(const Request& request);

// What the headers of a stateless request do not repeat rightly; nothing: they do.
std::optional<std::string> header_mismatch(const Request& request, const RequestHeaders& headers);

}  // namespace sextant::front::mcp
