#include "http/client.h"

#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "http/lines.h"
#include "http/message_parser.h"
#include "http/proxy.h"
#include "http/sockets.h"
#include "http/tls.h"

namespace sextant::http {
namespace {

constexpr std::size_t kPiece = 16U * 1024U;
// Of replies that are none yet (100 Continue, 103 Early Hints).
constexpr int kMostInterim = 8;

bool is_fine(int status) {
  return status >= 200 && status < 300;
}
bool is_interim(int status) {
  return status >= 100 && status < 200;
}

Result<void> read_head(Stream& stream, MessageParser& parser, const Patience& patience) {
  std::array<char, kPiece> piece{};
  while (!parser.has_head()) {
    SEXTANT_TRY(const std::size_t got, stream.read(piece, patience));
    if (got == 0) {
      return parser.end();
    }
    SEXTANT_CHECK_OK(parser.feed({piece.data(), got}));
  }
  return {};
}

// Asks the proxy for a way through to the server.
Result<void> tunnelled(Stream& stream, const Url& proxy, const Url& server,
                       const Patience& patience) {
  const bool is_v6 = server.host.find(':') != std::string::npos;
  const std::string through =
      fmt::format("{0}{1}{2}:{3}", is_v6 ? "[" : "", server.host, is_v6 ? "]" : "", server.port);
  Request request{.method = "CONNECT", .target = through, .headers = {{"Host", through}}};
  if (!proxy.login.empty()) {
    request.headers.push_back({"Proxy-Authorization", basic_credentials(proxy.login)});
  }
  SEXTANT_TRY(const std::string head, request_head(request));
  SEXTANT_CHECK_OK(stream.write(head, patience));
  MessageParser parser(
      MessageKind::kReply, {}, [](std::string_view) { return Result<void>(); }, true);
  SEXTANT_CHECK_OK(read_head(stream, parser, patience));
  if (!is_fine(parser.head().status)) {
    return external(fmt::format("the proxy {} answers {} {}", host_text(proxy),
                                parser.head().status, reason_of(parser.head().status)));
  }
  return {};
}

Result<std::unique_ptr<Stream>> reached(const Url& server, const ClientOptions& options,
                                        const Patience& whole) {
  const Patience patience = no_longer_than(whole, options.connect_limit);
  const Url& first = options.proxy.has_value() ? *options.proxy : server;
  auto stream = connected(first.host, first.port, patience);
  if (!stream && options.proxy.has_value()) {
    stream.error().what = fmt::format("the proxy {}: {}", host_text(first), stream.error().what);
  }
  if (!stream || !server.is_secure) {
    return stream;
  }
  if (options.proxy.has_value()) {
    SEXTANT_CHECK_OK(tunnelled(**stream, *options.proxy, server, patience));
  }
  return secured(std::move(*stream), {.host = server.host, .authorities = options.authorities},
                 patience);
}

Result<std::string> whole_request(Request request, const Url& server,
                                  const ClientOptions& options) {
  Headers headers{{"Host", host_text(server)}, {"Connection", "close"}};
  if (!request.body.empty() || request.method == "POST") {
    headers.push_back({"Content-Length", fmt::format("{}", request.body.size())});
  }
  headers.insert(headers.end(), request.headers.begin(), request.headers.end());
  if (options.proxy.has_value() && !server.is_secure) {
    request.target = fmt::format("http://{}{}", host_text(server), request.target);
    if (!options.proxy->login.empty()) {
      headers.push_back({"Proxy-Authorization", basic_credentials(options.proxy->login)});
    }
  }
  request.headers = std::move(headers);
  SEXTANT_TRY(const std::string head, request_head(request));
  return head + request.body;
}

// Where a reply's body goes: line by line to `take`, or whole into the reply.
class Taker {
 public:
  Taker(const ClientOptions& options, const TakeLine& take)
      : take_(take), lines_(options.longest_line) {}

  Result<void> piece(std::string_view bytes, int status) {
    if (take_ && is_fine(status)) {
      return lines_.feed(bytes, take_);
    }
    body_ += bytes;
    return {};
  }
  Result<std::string> end() {
    if (take_) {
      SEXTANT_CHECK_OK(lines_.end(take_));
    }
    return std::move(body_);
  }

 private:
  const TakeLine& take_;
  LineSplitter lines_;
  std::string body_;
};

Result<Reply> read_reply(Stream& stream, bool has_no_body, const ClientOptions& options,
                         const TakeLine& take, const Patience& whole) {
  Taker taker(options, take);
  std::string begun;
  for (int interim = 0; interim < kMostInterim; ++interim) {
    const MessageParser* current = nullptr;
    MessageParser parser(
        MessageKind::kReply, options.limits,
        [&](std::string_view bytes) { return taker.piece(bytes, current->head().status); },
        has_no_body);
    current = &parser;
    if (!begun.empty()) {
      SEXTANT_CHECK_OK(parser.feed(begun));
    }
    std::array<char, kPiece> piece{};
    while (!parser.is_done()) {
      SEXTANT_TRY(const std::size_t got,
                  stream.read(piece, no_longer_than(whole, options.silence_limit)));
      if (got == 0) {
        SEXTANT_CHECK_OK(parser.end());
        break;
      }
      SEXTANT_CHECK_OK(parser.feed({piece.data(), got}));
    }
    if (is_interim(parser.head().status)) {
      begun = parser.rest();
      continue;
    }
    SEXTANT_TRY(std::string body, taker.end());
    return Reply{
        .status = parser.head().status, .headers = parser.head().headers, .body = std::move(body)};
  }
  return external("the server announces a reply and never gives one");
}

Result<Reply> exchanged(const Request& request, const Url& server, const ClientOptions& options,
                        const TakeLine& take) {
  const Patience whole = patience_of(options.whole_limit, options.stop);
  SEXTANT_TRY(const std::string bytes, whole_request(request, server, options));
  SEXTANT_TRY(const std::unique_ptr<Stream> stream, reached(server, options, whole));
  const Result<void> sent = stream->write(bytes, whole);
  // A server that refuses a request may answer before it has read all of it.
  Result<Reply> reply = read_reply(*stream, request.method == "HEAD", options, take, whole);
  if (!reply && !sent) {
    return tl::unexpected(sent.error());
  }
  return reply;
}

}  // namespace

Result<Reply> reply_to(const Request& request, const Url& server, const ClientOptions& options,
                       const TakeLine& take) {
  Result<Reply> reply = exchanged(request, server, options, take);
  if (!reply && reply.error().where.empty()) {
    reply.error().where =
        fmt::format("{}://{}", server.is_secure ? "https" : "http", host_text(server));
  }
  return reply;
}

}  // namespace sextant::http
