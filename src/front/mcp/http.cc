#include "front/mcp/http.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "front/mcp/sessions.h"
#include "http/server.h"
#include "http/sse.h"

namespace sextant::front::mcp {
namespace {

constexpr std::string_view kPlace = "/mcp";
constexpr std::string_view kSessionHeader = "Mcp-Session-Id";

// Stops a request whose client is gone: whoever answers looks at one flag.
class Watch {
 public:
  Watch(const std::atomic<bool>& gone, std::atomic<bool>& stop)
      : thread_([this, &gone, &stop] {
          std::unique_lock lock(mutex_);
          while (!over_) {
            stop = stop || gone;
            changed_.wait_for(lock, std::chrono::milliseconds(50));
          }
        }) {}
  ~Watch() {
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  Watch(Watch&&) = delete;
  Watch& operator=(Watch&&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;  // begun when all else is there
};

std::optional<std::string> header_of(const http::Request& request, std::string_view name) {
  const std::string_view value = http::value_of(request.headers, name);
  return value.empty() ? std::nullopt : std::optional(std::string(trimmed(value)));
}

RequestHeaders repeated_headers(const http::Request& request) {
  return {.version = header_of(request, "MCP-Protocol-Version"),
          .method = header_of(request, "Mcp-Method"),
          .name = header_of(request, "Mcp-Name")};
}

http::Reply json_reply(int status, const Json& message, http::Headers headers = {}) {
  headers.push_back({"Content-Type", "application/json"});
  return {.status = status, .headers = std::move(headers), .body = one_line(message)};
}

http::Reply refusal(int status, std::string why) {
  return json_reply(status,
                    error_message({}, {.code = kInvalidRequest, .message = std::move(why)}));
}

std::string event_of(const Json& message) {
  return http::to_text(http::ServerEvent{.data = one_line(message)});
}

// The reply to one request: JSON, or a stream once there is something to tell before the answer.
class ReplyStream {
 public:
  ReplyStream(http::Exchange& exchange, bool may_stream)
      : exchange_(exchange), may_stream_(may_stream) {}

  void tell(const Json& notification) {
    const std::scoped_lock lock(mutex_);
    if (!may_stream_) {
      return;
    }
    if (!begun_) {
      begun_ = true;
      exchange_.begin(200, {{"Content-Type", "text/event-stream"},
                            {"Cache-Control", "no-store"},
                            {"X-Accel-Buffering", "no"}});
    }
    exchange_.write(event_of(notification));
  }

  void end(const Answer& answer, http::Headers headers) {
    const std::scoped_lock lock(mutex_);
    if (begun_) {
      exchange_.write(event_of(answer.message));
    } else {
      exchange_.answer(json_reply(answer.http_status, answer.message, std::move(headers)));
    }
  }

 private:
  http::Exchange& exchange_;
  bool may_stream_;
  std::mutex mutex_;
  bool begun_ = false;
};

class HttpServer {
 public:
  explicit HttpServer(const Server& server) : server_(server) {}

  void handle(const http::Request& request, http::Exchange& exchange) {
    const std::string_view target = request.target;
    if (target.substr(0, target.find('?')) != kPlace) {
      exchange.answer(refusal(404, fmt::format("the protocol is spoken at {}", kPlace)));
      return;
    }
    const auto session = header_of(request, kSessionHeader);
    if (request.method == "DELETE" && session) {
      const bool ended = sessions_.end(*session);
      exchange.answer(ended ? http::Reply{.status = 204}
                            : refusal(404, "there is no such session"));
      return;
    }
    if (request.method != "POST") {
      http::Reply reply = refusal(405, "a message is sent by POST");
      reply.headers.push_back({"Allow", "POST, DELETE"});
      exchange.answer(reply);
      return;
    }
    if (!to_lower(http::value_of(request.headers, "Content-Type"))
             .starts_with("application/json")) {
      exchange.answer(refusal(415, "a message is application/json"));
      return;
    }
    take(read_message(request.body), request, exchange);
  }

 private:
  void take(const Message& message, const http::Request& request, http::Exchange& exchange) {
    if (const auto* rejected = std::get_if<Rejected>(&message)) {
      exchange.answer(json_reply(
          400, error_message(rejected->id, {.code = rejected->code, .message = rejected->why})));
    } else if (const auto* asked = std::get_if<Request>(&message)) {
      take(*asked, request, exchange);
    } else {
      if (const auto* notification = std::get_if<Notification>(&message)) {
        take(*notification, request);
      }
      exchange.answer({.status = 202});
    }
  }

  void take(const Notification& notification, const http::Request& request) {
    const auto session = header_of(request, kSessionHeader);
    const auto found = session ? sessions_.find(*session) : nullptr;
    if (found && notification.method == "notifications/cancelled" &&
        notification.params.contains("requestId")) {
      found->requests.cancel(notification.params.at("requestId"));
    }
  }

  void take(const Request& asked, const http::Request& request, http::Exchange& exchange) {
    const RequestHeaders headers = repeated_headers(request);
    const auto session = header_of(request, kSessionHeader);
    // The other era knows no sessions and ignores the header.
    const bool has_session = session && headers.version != std::string(kStatelessVersion);
    const auto found = has_session ? sessions_.find(*session) : nullptr;
    if (has_session && !found) {
      exchange.answer(json_reply(
          404, error_message(asked.id, {.code = kInvalidRequest,
                                        .message = "there is no such session: initialize again"})));
      return;
    }
    const InFlight::Stop own =
        found ? found->requests.begin(asked.id) : std::make_shared<std::atomic<bool>>(false);
    if (!own) {
      exchange.answer(
          json_reply(400, error_message(asked.id, {.code = kInvalidRequest,
                                                   .message = "another request of this id is being "
                                                              "answered"})));
      return;
    }
    answer(asked, headers, {*own, found ? &found->log_level : nullptr}, request, exchange);
    if (found) {
      found->requests.end(asked.id);
    }
  }

  // What of a session one request needs.
  struct Hold {
    std::atomic<bool>& stop;
    std::atomic<LogLevel>* log_level;
  };

  void answer(const Request& asked, const RequestHeaders& headers, const Hold& hold,
              const http::Request& request, http::Exchange& exchange) {
    ReplyStream stream(exchange,
                       http::value_of(request.headers, "Accept").find("text/event-stream") !=
                           std::string_view::npos);
    const Answer answer = [&] {
      std::optional<Watch> watch;
      if (may_take_long(asked)) {
        watch.emplace(exchange.gone(), hold.stop);
      }
      return server_.answer(asked,
                            {.stop = hold.stop,
                             .notify = [&](const Json& notification) { stream.tell(notification); },
                             .log_level = hold.log_level,
                             .headers = headers});
    }();
    http::Headers also;
    if (asked.method == "initialize" && !answer.is_error()) {
      also.push_back({std::string(kSessionHeader), sessions_.begin()});
    }
    stream.end(answer, std::move(also));
  }

  const Server& server_;
  Sessions sessions_;
};

}  // namespace

Result<void> serve_http(const Server& server, std::uint16_t port,
                        const std::function<void(std::uint16_t port)>& listening,
                        const std::function<void()>& wait) {
  HttpServer handler(server);
  const auto started = http::Server::start(
      {.port = port}, [&handler](const http::Request& request, http::Exchange& exchange) {
        handler.handle(request, exchange);
      });
  if (!started) {
    return tl::unexpected(started.error());
  }
  listening(started->port());
  wait();
  return {};
}

}  // namespace sextant::front::mcp
