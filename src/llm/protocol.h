// Three protocols as pure functions: a conversation → the request's bytes, the events of a streamed
// reply, or the JSON of one that is not → what the model said. Nothing here opens a connection.
//
// Sources: the request and event types of the npm packages openai 6.49.0 (chat completions,
// Responses) and @anthropic-ai/sdk 1.8.0 (Messages). Sampling parameters (temperature, …) are not
// sent: newer models refuse them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "http/message.h"
#include "http/sse.h"
#include "llm/conversation.h"

namespace sextant::llm {

enum class Protocol : std::uint8_t {
  kChat,       // OpenAI's chat completions, which most servers speak
  kResponses,  // OpenAI's Responses
  kMessages,   // Anthropic's Messages
};
inline constexpr std::array<std::pair<Protocol, std::string_view>, 3> kProtocolWords{
    {{Protocol::kChat, "chat"},
     {Protocol::kResponses, "responses"},
     {Protocol::kMessages, "messages"}}};
Result<Protocol> parse_protocol(std::string_view word, std::string_view where);
// What a server of that host speaks: its makers' own, else chat completions.
Protocol usual_protocol(std::string_view host);

struct ModelOptions {
  std::string model;
  std::int64_t most_output = 4096;  // tokens of one reply
  // OpenAI's own server wants max_completion_tokens where others know max_tokens alone.
  bool is_openai = false;
};

// Below the server's path: "/chat/completions".
std::string_view path_of(Protocol protocol);
// Those that carry the key, and the protocol's version. No key: none carries it.
http::Headers protocol_headers(Protocol protocol, const std::string& key);
// JSON, one line.
std::string request_body(Protocol protocol, const Conversation& conversation,
                         const ModelOptions& options);

// The events of one reply, as they come. Any bytes end in a reply or an Error.
class ReplyDecoder {
 public:
  ReplyDecoder() = default;
  ReplyDecoder(const ReplyDecoder&) = delete;
  ReplyDecoder(ReplyDecoder&&) = delete;
  ReplyDecoder& operator=(const ReplyDecoder&) = delete;
  ReplyDecoder& operator=(ReplyDecoder&&) = delete;
  virtual ~ReplyDecoder() = default;

  virtual Result<void> take(const http::ServerEvent& event) = 0;
  // Instead of events: the one JSON object of a server that does not stream, though it was asked
  // to.
  virtual Result<void> take_whole(std::string_view body) = 0;
  // After the last event: an Error where the stream was cut. Usage is all 0 where the server did
  // not say.
  virtual Result<ModelReply> end() = 0;
};
std::unique_ptr<ReplyDecoder> reply_decoder(Protocol protocol);

}  // namespace sextant::llm
