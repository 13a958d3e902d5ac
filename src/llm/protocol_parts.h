// One protocol a file: what protocol.cc chooses from. Included by .cc files of llm/ alone.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "llm/json.h"
#include "llm/protocol.h"

namespace sextant::llm {

Json chat_request(const Conversation& conversation, const ModelOptions& options);
Json responses_request(const Conversation& conversation, const ModelOptions& options);
Json messages_request(const Conversation& conversation, const ModelOptions& options);

std::unique_ptr<ReplyDecoder> chat_decoder();
std::unique_ptr<ReplyDecoder> responses_decoder();
std::unique_ptr<ReplyDecoder> messages_decoder();

// Where in a reply something is wrong, for Errors.
inline constexpr const char* kInReply = "the model's reply";

// Adds to a text that must not grow beyond its limit.
Result<void> add_bounded(std::string& text, std::string_view more, std::size_t longest);
// A reply that was not streamed, as JSON; an Error too where it tells of one.
Result<Json> whole_object(std::string_view body);
// Arguments of a call: text, or, as some servers have them, the object itself.
std::string arguments_text(const Json& call, std::string_view key);
// The data of an event as JSON; an Error too where it tells of one.
Result<Json> event_object(const http::ServerEvent& event);
// Of a stream that ended without saying so.
inline tl::unexpected<Error> cut_stream() {
  return external("the stream ended within the reply", kInReply);
}
// The reply at the end of a stream that says nothing of calls when it says that it is done.
inline Result<ModelReply> ended_reply(ModelReply reply, bool is_done) {
  if (!is_done) {
    return cut_stream();
  }
  if (!reply.calls.empty() && reply.ending == Ending::kDone) {
    reply.ending = Ending::kCalls;
  }
  return reply;
}

}  // namespace sextant::llm
