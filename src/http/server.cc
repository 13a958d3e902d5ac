#include "http/server.h"

#include <algorithm>
#include <array>
#include <list>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "http/message_parser.h"
#include "http/sockets.h"

namespace sextant::http {
// A name of its own: Server::State is made of it.
namespace serving {

// One connection and what is going on in it.
struct Connection {
  std::unique_ptr<Stream> stream;
  std::atomic<bool> is_answering = false;  // a handler is at work: somebody may hang up on it
  std::atomic<bool> is_gone = false;
  std::atomic<bool> is_over = false;
  std::thread thread;
};

}  // namespace serving

namespace {

using serving::Connection;

constexpr std::size_t kPieceRead = std::size_t{16} * 1024;
constexpr Seconds kTickLimit(0.02);
constexpr Seconds kWriteLimit(30.0);

Reply plain_reply(int status, std::string_view text) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = fmt::format("{}\n", text)};
}

class LiveExchange final : public Exchange {
 public:
  LiveExchange(Connection& connection, const Patience& patience, bool keeps, bool with_body)
      : connection_(connection), patience_(patience), keeps_(keeps), with_body_(with_body) {}

  void answer(const Reply& reply) override {
    Reply whole = reply;
    whole.headers.push_back({"Content-Length", fmt::format("{}", reply.body.size())});
    send_head(whole, with_body_ ? reply.body : "");
    is_ended_ = true;
  }
  void begin(int status, const Headers& headers) override {
    Reply head{.status = status, .headers = headers};
    head.headers.push_back({"Transfer-Encoding", "chunked"});
    send_head(head, "");
  }
  bool write(std::string_view bytes) override {
    if (!bytes.empty() && with_body_) {
      send(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes));
    }
    return !connection_.is_gone;
  }
  [[nodiscard]] const std::atomic<bool>& gone() const override { return connection_.is_gone; }

  void finish() {
    if (!is_begun_) {
      answer(plain_reply(500, "no answer"));
    } else if (!is_ended_ && with_body_) {
      send("0\r\n\r\n");
    }
  }

 private:
  void send_head(Reply head, std::string_view body) {
    is_begun_ = true;
    head.headers.push_back({"Connection", keeps_ ? "keep-alive" : "close"});
    Result<std::string> text = reply_head(head);
    if (!text) {  // a handler's header that is none: nobody is told its value
      text = reply_head({.status = 500, .headers = {{"Content-Length", "0"}}});
      body = {};
    }
    send(*text + std::string(body));
  }
  void send(std::string_view bytes) {
    if (connection_.is_gone) {
      return;
    }
    if (!connection_.stream->write(bytes, no_longer_than(patience_, kWriteLimit))) {
      connection_.is_gone = true;
    }
  }

  Connection& connection_;
  Patience patience_;
  bool keeps_;
  bool with_body_;  // a HEAD is answered without
  bool is_begun_ = false;
  bool is_ended_ = false;
};

// What a request that cannot be read is answered with; 0: nothing, the connection just ends.
int status_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::kHeadTooLong:
      return 431;
    case Refusal::kBodyTooLong:
      return 413;
    case Refusal::kMalformed:
      return 400;
    case Refusal::kNone:
    case Refusal::kSink:
      break;
  }
  return 0;
}

}  // namespace

struct Server::State {
  State(ServerOptions given, Handler answers, Listener opened)
      : options(std::move(given)), handler(std::move(answers)), listener(std::move(opened)) {}

  void serve();
  void take(std::unique_ptr<Stream> stream);
  void watch();
  void talk(Connection& connection);
  bool one_exchange(Connection& connection, std::string& begun);
  bool read_request(Connection& connection, MessageParser& parser, std::string_view begun);
  void refuse(Connection& connection, const Reply& reply) const;

  [[nodiscard]] Patience patience(Seconds limit) const { return patience_of(limit, &stopping); }

  ServerOptions options;
  Handler handler;
  Listener listener;
  std::atomic<bool> stopping = false;
  std::list<Connection> connections;  // the serving thread's alone
  std::thread thread;
};

// Comes back to its connections every tick: who has hung up, who is done.
void Server::State::serve() {
  while (!stopping) {
    auto stream = listener.accept(patience(kTickLimit));
    watch();
    if (stream && *stream != nullptr) {
      take(std::move(*stream));
    }
  }
  for (Connection& connection : connections) {
    connection.is_gone = true;
  }
  for (Connection& connection : connections) {
    connection.thread.join();
  }
  connections.clear();
}

void Server::State::watch() {
  for (auto one = connections.begin(); one != connections.end();) {
    if (one->is_over) {
      one->thread.join();
      one = connections.erase(one);
      continue;
    }
    if (one->is_answering && one->stream->is_gone()) {
      one->is_gone = true;
    }
    ++one;
  }
}

void Server::State::take(std::unique_ptr<Stream> stream) {
  Connection& connection = connections.emplace_back();
  connection.stream = std::move(stream);
  const bool is_full = connections.size() > options.connections;
  try {
    if (!is_full) {
      connection.thread = std::thread([this, &connection] { talk(connection); });
      return;
    }
  } catch (const std::system_error&) {
    // No thread left: the same as too many connections.
  }
  refuse(connection, plain_reply(503, "too many connections"));
  connections.pop_back();
}

void Server::State::refuse(Connection& connection, const Reply& reply) const {
  LiveExchange exchange(connection, patience(kTickLimit), false, true);
  exchange.answer(reply);
  // Closing with bytes unread would take the answer back from whoever still sends.
  std::array<char, kPieceRead> unread{};
  const Patience brief = patience(kTickLimit);
  for (Result<std::size_t> got = connection.stream->read(unread, brief); got && *got > 0;
       got = connection.stream->read(unread, brief)) {
    if (std::chrono::steady_clock::now() > brief.until) {
      break;
    }
  }
}

void Server::State::talk(Connection& connection) {
  std::string begun;
  while (!stopping && one_exchange(connection, begun)) {
  }
  connection.is_over = true;
}

// Whether the request came whole; else it was refused, or nobody was there.
bool Server::State::read_request(Connection& connection, MessageParser& parser,
                                 std::string_view begun) {
  Result<void> fed = begun.empty() ? Result<void>() : parser.feed(begun);
  Patience until = patience(parser.has_begun() ? options.request_limit : options.idle_limit);
  bool is_continued = false;
  std::array<char, kPieceRead> piece{};
  while (fed && !parser.is_done()) {
    if (parser.has_head() && !std::exchange(is_continued, parser.has_head()) &&
        to_lower(value_of(parser.head().headers, "expect")) == "100-continue") {
      if (!connection.stream->write("HTTP/1.1 100 Continue\r\n\r\n", until)) {
        return false;
      }
    }
    const Result<std::size_t> got = connection.stream->read(piece, until);
    if (!got || *got == 0) {
      if (!got && parser.has_begun() && !stopping) {
        refuse(connection, plain_reply(408, "the request did not come whole in time"));
      }
      return false;
    }
    if (!parser.has_begun()) {
      until = patience(options.request_limit);
    }
    fed = parser.feed({piece.data(), *got});
  }
  if (!fed) {
    if (const int status = status_of(parser.refusal()); status != 0) {
      refuse(connection, plain_reply(status, fed.error().what));
    }
    return false;
  }
  return true;
}

// One request and its reply; false where the connection ends.
bool Server::State::one_exchange(Connection& connection, std::string& begun) {
  Request request;
  MessageParser parser(MessageKind::kRequest, options.limits, [&](std::string_view bytes) {
    request.body += bytes;
    return Result<void>();
  });
  if (!read_request(connection, parser, begun)) {
    return false;
  }
  begun = parser.rest();
  const MessageHead& head = parser.head();
  request.method = head.method;
  request.target = head.target;
  request.headers = head.headers;
  if (const auto why = refusal_of(request.headers, options.access)) {
    refuse(connection, plain_reply(403, *why));
    return false;
  }
  const bool keeps = parser.keeps_alive() && head.is_http_1_1;
  LiveExchange exchange(connection, {.stop = &stopping}, keeps, request.method != "HEAD");
  connection.is_answering = true;
  try {
    handler(request, exchange);
  } catch (const std::exception&) {
    // No memory or no thread left: who asked is told so, and the others are answered on.
  }
  exchange.finish();
  connection.is_answering = false;
  return keeps && !connection.is_gone;
}

Result<Server> Server::start(const ServerOptions& options, Handler handler) {
  SEXTANT_TRY(Listener listener, Listener::open(options.address, options.port));
  auto state = std::make_unique<State>(options, std::move(handler), std::move(listener));
  try {
    state->thread = std::thread([serving = state.get()] { serving->serve(); });
  } catch (const std::system_error& failed) {
    return external(fmt::format("no thread to serve: {}", failed.what()));
  }
  return Server(std::move(state));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() {
  stop();
}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

std::uint16_t Server::port() const {
  return state_->listener.port();
}

void Server::stop() {
  if (state_ != nullptr && state_->thread.joinable()) {
    state_->stopping = true;
    state_->thread.join();
  }
}

}  // namespace sextant::http
