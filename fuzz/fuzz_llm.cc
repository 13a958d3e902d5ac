// A model's reply by each of the three protocols, streamed and whole, its text as an answer with
// proposals, and vectors that an endpoint makes of texts.
#include <cstdint>
#include <string>
#include <string_view>

#include "agents/llm_answer.h"
#include "agents/llm_masks.h"
#include "agents/llm_prompt.h"
#include "http/lines.h"
#include "http/sse.h"
#include "llm/embeddings.h"
#include "llm/protocol.h"

namespace {

using namespace sextant;

void decode(llm::Protocol protocol, std::string_view stream) {
  if (const auto whole = llm::reply_decoder(protocol); whole->take_whole(stream)) {
    static_cast<void>(whole->end());
  }
  const auto decoder = llm::reply_decoder(protocol);
  http::LineSplitter lines(4096);
  http::EventReader events;
  const auto take_event = [&](const http::ServerEvent& event) { return decoder->take(event); };
  const auto fed =
      lines.feed(stream, [&](std::string_view line) { return events.feed(line, take_event); });
  if (!fed) {
    return;
  }
  if (const auto reply = decoder->end()) {
    // What it said goes back to it with the next request.
    const llm::Conversation next{
        .system = "s",
        .turns = {{.speaker = llm::Speaker::kModel, .text = reply->text, .calls = reply->calls}}};
    static_cast<void>(llm::request_body(protocol, next, {.model = "m"}));
    static_cast<void>(agents::parse_llm_answer(reply->text, "model m"));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  for (const auto& [protocol, word] : llm::kProtocolWords) {
    decode(protocol, text);
  }
  static_cast<void>(llm::parse_embeddings(text, 2));
  static_cast<void>(agents::parse_llm_answer(text, "model m"));
  static_cast<void>(agents::parse_llm_proposal(text, "model m"));
  agents::Masks masks({"secret-model"});
  static_cast<void>(masks.plain(masks.masked(text)));
  static_cast<void>(agents::fenced("x", text));
  return 0;
}
