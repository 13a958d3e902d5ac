// Bytes that come in → one message of HTTP/1.1, piece by piece. The grammar is Boost.Beast's; any
// bytes end in a message or an Error, and no more is held than the limits say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace sextant::http {

enum class MessageKind : std::uint8_t { kRequest, kReply };

struct MessageHead {
  std::string method = {};  // of a request
  std::string target = {};
  int status = 0;  // of a reply
  Headers headers = {};
  bool is_http_1_1 = true;
};

// Why the bytes were refused.
enum class Refusal : std::uint8_t { kNone, kMalformed, kHeadTooLong, kBodyTooLong, kSink };

class MessageParser {
 public:
  // Takes a piece of the body; an Error from it ends the reading.
  using Sink = std::function<Result<void>(std::string_view)>;

  // `has_no_body`: whatever its headers say (the reply to a HEAD or a CONNECT).
  MessageParser(MessageKind kind, const MessageLimits& limits, Sink sink, bool has_no_body = false);
  ~MessageParser();
  MessageParser(MessageParser&&) noexcept;
  MessageParser& operator=(MessageParser&&) noexcept;
  MessageParser(const MessageParser&) = delete;
  MessageParser& operator=(const MessageParser&) = delete;

  // Reads on. Bytes behind the message's end are kept for rest(). REQUIRES: no Error yet.
  Result<void> feed(std::string_view bytes);
  // There will be no more: an Error unless the message may end here.
  Result<void> end();

  [[nodiscard]] bool has_begun() const;  // a byte was read
  [[nodiscard]] bool has_head() const;
  [[nodiscard]] bool is_done() const;
  // Whether the connection may serve another message. REQUIRES: has_head().
  [[nodiscard]] bool keeps_alive() const;
  [[nodiscard]] const MessageHead& head() const;
  [[nodiscard]] Refusal refusal() const;
  // What came behind the message: the beginning of the next.
  [[nodiscard]] std::string rest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant::http
