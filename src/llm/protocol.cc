#include "llm/protocol.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "llm/protocol_parts.h"

namespace sextant::llm {
namespace {

bool is_host_of(std::string_view host, std::string_view domain) {
  return host == domain || (host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.');
}

}  // namespace

Result<Protocol> parse_protocol(std::string_view word, std::string_view where) {
  const auto* const found =
      std::ranges::find(kProtocolWords, word, &std::pair<Protocol, std::string_view>::second);
  if (found == kProtocolWords.end()) {
    return invalid(fmt::format("'{}' is no protocol", printable(word)), std::string(where),
                   "chat, responses or messages");
  }
  return found->first;
}

Protocol usual_protocol(std::string_view host) {
  if (is_host_of(host, "anthropic.com")) {
    return Protocol::kMessages;
  }
  return is_host_of(host, "openai.com") ? Protocol::kResponses : Protocol::kChat;
}

std::string_view path_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::kChat:
      return "/chat/completions";
    case Protocol::kResponses:
      return "/responses";
    case Protocol::kMessages:
      break;
  }
  return "/messages";
}

http::Headers protocol_headers(Protocol protocol, const std::string& key) {
  http::Headers headers{{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}};
  if (protocol == Protocol::kMessages) {
    headers.push_back({"anthropic-version", "2023-06-01"});
  }
  if (!key.empty()) {
    headers.push_back(protocol == Protocol::kMessages
                          ? http::Header{"x-api-key", key}
                          : http::Header{"Authorization", "Bearer " + key});
  }
  return headers;
}

std::string request_body(Protocol protocol, const Conversation& conversation,
                         const ModelOptions& options) {
  switch (protocol) {
    case Protocol::kChat:
      return dumped(chat_request(conversation, options));
    case Protocol::kResponses:
      return dumped(responses_request(conversation, options));
    case Protocol::kMessages:
      break;
  }
  return dumped(messages_request(conversation, options));
}

std::unique_ptr<ReplyDecoder> reply_decoder(Protocol protocol) {
  switch (protocol) {
    case Protocol::kChat:
      return chat_decoder();
    case Protocol::kResponses:
      return responses_decoder();
    case Protocol::kMessages:
      break;
  }
  return messages_decoder();
}

Result<void> add_bounded(std::string& text, std::string_view more, std::size_t longest) {
  if (text.size() + more.size() > longest) {
    return external(fmt::format("it is longer than {} bytes", longest), kInReply);
  }
  text += more;
  return {};
}

Result<Json> whole_object(std::string_view body) {
  SEXTANT_TRY(Json json, parsed_object(body, kInReply));
  if (!member(json, "error").is_null()) {
    return external(fmt::format("the server answers: {}", printable(error_message(json), 300)),
                    kInReply);
  }
  return json;
}

std::string arguments_text(const Json& call, std::string_view key) {
  const Json& found = member(call, key);
  return found.is_object() ? dumped(found) : text_of(call, key);
}

Result<Json> event_object(const http::ServerEvent& event) {
  SEXTANT_TRY(Json json, parsed_object(event.data, kInReply));
  if (!member(json, "error").is_null() || event.name == "error" ||
      text_of(json, "type") == "error") {
    return external(fmt::format("the server breaks off: {}", printable(error_message(json), 300)),
                    kInReply);
  }
  return json;
}

}  // namespace sextant::llm
