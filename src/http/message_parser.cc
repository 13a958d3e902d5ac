// The one file that knows Boost.Beast (docs/decisions/0020-http.md). Only its grammar is used: no
// socket of Asio is opened.
#include "http/message_parser.h"

#include <optional>
#include <utility>
#include <variant>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <fmt/format.h>

namespace sextant::http {
// A name of its own: State is made of these.
namespace grammar {

namespace beast = boost::beast;

// What both kinds of parser tell.
struct Heard {
  MessageHead head;
  MessageParser::Sink sink;
  std::optional<Error> refused;  // by the sink
};

template <bool kIsRequest>
class Grammar final : public beast::http::basic_parser<kIsRequest> {
 public:
  explicit Grammar(Heard& heard) : heard_(heard) {}

 private:
  using Code = beast::error_code;
  using View = beast::string_view;

  void on_request_impl(beast::http::verb /*verb*/, View method, View target, int version,
                       Code& /*code*/) override {
    heard_.head.method = std::string(method);
    heard_.head.target = std::string(target);
    heard_.head.is_http_1_1 = version >= 11;
  }
  void on_response_impl(int status, View /*reason*/, int version, Code& /*code*/) override {
    heard_.head.status = status;
    heard_.head.is_http_1_1 = version >= 11;
  }
  void on_field_impl(beast::http::field /*field*/, View name, View value, Code& /*code*/) override {
    heard_.head.headers.push_back({.name = std::string(name), .value = std::string(value)});
  }
  void on_header_impl(Code& /*code*/) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                         Code& /*code*/) override {}
  std::size_t on_body_impl(View body, Code& code) override { return taken(body, code); }
  void on_chunk_header_impl(std::uint64_t /*size*/, View /*extensions*/, Code& /*code*/) override {}
  std::size_t on_chunk_body_impl(std::uint64_t /*remain*/, View body, Code& code) override {
    return taken(body, code);
  }
  void on_finish_impl(Code& /*code*/) override {}

  std::size_t taken(View body, Code& code) {
    if (Result<void> result = heard_.sink({body.data(), body.size()}); !result) {
      heard_.refused = std::move(result.error());
      code = beast::http::error::buffer_overflow;
    }
    return body.size();
  }

  Heard& heard_;
};

// A sum that no message reaches by itself.
constexpr std::size_t kWaiting = 16U * 1024U;

}  // namespace grammar

struct MessageParser::State {
  template <typename Do>
  auto each(const Do& work) {
    if (auto* request = std::get_if<grammar::Grammar<true>>(&message)) {
      return work(*request);
    }
    return work(*std::get_if<grammar::Grammar<false>>(&message));
  }

  State(MessageKind kind, const MessageLimits& limits, Sink sink, bool has_no_body)
      : heard{.head = {}, .sink = std::move(sink), .refused = {}},
        longest_waiting(static_cast<std::size_t>(limits.head.base()) + grammar::kWaiting) {
    if (kind == MessageKind::kRequest) {
      message.emplace<grammar::Grammar<true>>(heard);
    } else {
      message.emplace<grammar::Grammar<false>>(heard);
    }
    each([&](auto& parser) {
      parser.header_limit(static_cast<std::uint32_t>(limits.head.base()));
      parser.body_limit(static_cast<std::uint64_t>(limits.body.base()));
      parser.eager(true);
      parser.skip(has_no_body);
      return 0;
    });
  }

  Result<void> refuse(const boost::beast::error_code& code) {
    using Known = boost::beast::http::error;
    if (heard.refused.has_value()) {
      refusal = Refusal::kSink;
      return tl::unexpected(*heard.refused);
    }
    if (code == Known::header_limit) {
      refusal = Refusal::kHeadTooLong;
      return external("the headers are longer than the limit");
    }
    if (code == Known::body_limit) {
      refusal = Refusal::kBodyTooLong;
      return external("the body is longer than the limit");
    }
    refusal = Refusal::kMalformed;
    if (code == Known::partial_message) {
      return external("the connection ended within the message");
    }
    return external(fmt::format("this is not HTTP/1.1: {}", code.message()));
  }

  grammar::Heard heard;
  std::variant<std::monostate, grammar::Grammar<true>, grammar::Grammar<false>> message;
  std::size_t longest_waiting;
  std::string waiting;  // not yet understood
  Refusal refusal = Refusal::kNone;
};

MessageParser::MessageParser(MessageKind kind, const MessageLimits& limits, Sink sink,
                             bool has_no_body)
    : state_(std::make_unique<State>(kind, limits, std::move(sink), has_no_body)) {}
MessageParser::~MessageParser() = default;
MessageParser::MessageParser(MessageParser&&) noexcept = default;
MessageParser& MessageParser::operator=(MessageParser&&) noexcept = default;

Result<void> MessageParser::feed(std::string_view bytes) {
  State& state = *state_;
  state.waiting += bytes;
  std::size_t used = 0;
  boost::beast::error_code code;
  while (!is_done() && used < state.waiting.size()) {
    const boost::asio::const_buffer unread(state.waiting.data() + used,
                                           state.waiting.size() - used);
    const std::size_t step = state.each([&](auto& parser) { return parser.put(unread, code); });
    used += step;
    if (code == boost::beast::http::error::need_more) {
      break;
    }
    if (code) {
      return state.refuse(code);
    }
    if (step == 0) {
      break;
    }
  }
  state.waiting.erase(0, used);
  // A chunk's extensions have no limit of their own.
  if (!is_done() && state.waiting.size() > state.longest_waiting) {
    return state.refuse(
        boost::beast::http::make_error_code(boost::beast::http::error::header_limit));
  }
  return {};
}

Result<void> MessageParser::end() {
  if (is_done()) {
    return {};
  }
  State& state = *state_;
  boost::beast::error_code code = boost::beast::http::error::partial_message;
  if (has_begun()) {
    state.each([&](auto& parser) {
      parser.put_eof(code);
      return 0;
    });
  }
  if (code) {
    return state.refuse(code);
  }
  return {};
}

bool MessageParser::has_begun() const {
  return state_->each([](const auto& parser) { return parser.got_some(); });
}
bool MessageParser::has_head() const {
  return state_->each([](const auto& parser) { return parser.is_header_done(); });
}
bool MessageParser::is_done() const {
  return state_->each([](const auto& parser) { return parser.is_done(); });
}
bool MessageParser::keeps_alive() const {
  return state_->each([](const auto& parser) { return parser.keep_alive(); });
}
const MessageHead& MessageParser::head() const {
  return state_->heard.head;
}
Refusal MessageParser::refusal() const {
  return state_->refusal;
}
std::string MessageParser::rest() const {
  return state_->waiting;
}

}  // namespace sextant::http
