// Anthropic's Messages.
#include <utility>

#include "llm/protocol_parts.h"

namespace sextant::llm {
namespace {

// What the model gave as arguments, which came as text; {} where they are no object that may be
// sent back.
Json argument_object(const std::string& text) {
  Result<Json> object = parsed_object(text, kInReply);
  return object ? *std::move(object) : Json::object();
}

Json model_blocks(const Turn& turn) {
  Json blocks = Json::array();
  if (!turn.text.empty()) {
    blocks.push_back({{"type", "text"}, {"text", turn.text}});
  }
  for (const ToolCall& call : turn.calls) {
    blocks.push_back({{"type", "tool_use"},
                      {"id", call.id},
                      {"name", call.name},
                      {"input", argument_object(call.arguments)}});
  }
  return blocks;
}

// Results of one turn stand in one message.
Json result_blocks(const Turn& turn) {
  Json blocks = Json::array();
  for (const ToolResult& result : turn.results) {
    Json block{{"type", "tool_result"}, {"tool_use_id", result.id}, {"content", result.text}};
    if (result.is_error) {
      block["is_error"] = true;
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

Json message_of(const Turn& turn) {
  switch (turn.speaker) {
    case Speaker::kUser:
      return {{"role", "user"}, {"content", turn.text}};
    case Speaker::kModel:
      return {{"role", "assistant"}, {"content", model_blocks(turn)}};
    case Speaker::kTools:
      break;
  }
  return {{"role", "user"}, {"content", result_blocks(turn)}};
}

class MessagesDecoder final : public ReplyDecoder {
 public:
  Result<void> take(const http::ServerEvent& event) override {
    SEXTANT_TRY(const Json json, event_object(event));
    const std::string type = text_of(json, "type");
    if (type == "message_start") {
      take_usage(member(member(json, "message"), "usage"));
    } else if (type == "content_block_start") {
      return begin_block(member(json, "content_block"));
    } else if (type == "content_block_delta") {
      return add_to_block(member(json, "delta"));
    } else if (type == "message_delta") {
      take_usage(member(json, "usage"));
      take_stop(text_of(member(json, "delta"), "stop_reason"));
    } else if (type == "message_stop") {
      is_done_ = true;
    }
    return {};
  }

  Result<void> take_whole(std::string_view body) override {
    SEXTANT_TRY(const Json message, whole_object(body));
    const Json& content = member(message, "content");
    if (!content.is_array()) {
      return external("it has no 'content': it is no message", kInReply);
    }
    for (const Json& block : content) {
      SEXTANT_CHECK_OK(begin_block(block));
      if (is_call_) {
        SEXTANT_CHECK_OK(add_bounded(reply_.calls.back().arguments, arguments_text(block, "input"),
                                     kLongestArguments));
      }
    }
    take_usage(member(message, "usage"));
    take_stop(text_of(message, "stop_reason"));
    is_done_ = true;
    return {};
  }

  Result<ModelReply> end() override {
    if (!is_done_) {
      return cut_stream();
    }
    for (ToolCall& call : reply_.calls) {
      if (call.arguments.empty()) {
        call.arguments = "{}";  // a call without arguments streams none
      }
    }
    return std::move(reply_);
  }

 private:
  void take_usage(const Json& usage) {
    const std::int64_t input = count_of(usage, "input_tokens") +
                               count_of(usage, "cache_creation_input_tokens") +
                               count_of(usage, "cache_read_input_tokens");
    reply_.usage.input = input > 0 ? input : reply_.usage.input;
    const std::int64_t output = count_of(usage, "output_tokens");
    reply_.usage.output = output > 0 ? output : reply_.usage.output;
  }

  void take_stop(const std::string& reason) {
    if (reason == "tool_use") {
      reply_.ending = Ending::kCalls;
    } else if (reason == "max_tokens" || reason == "model_context_window_exceeded") {
      reply_.ending = Ending::kLength;
    } else if (reason == "refusal") {
      reply_.ending = Ending::kRefused;
    }
  }

  // Blocks come one after another.
  Result<void> begin_block(const Json& block) {
    is_call_ = text_of(block, "type") == "tool_use";
    if (!is_call_) {
      return add_bounded(reply_.text, text_of(block, "text"), kLongestReply);
    }
    if (reply_.calls.size() >= kMostCalls) {
      return external("it has more than 64 calls of tools", kInReply);
    }
    reply_.calls.push_back({text_of(block, "id"), text_of(block, "name"), ""});
    return {};
  }

  Result<void> add_to_block(const Json& delta) {
    const std::string type = text_of(delta, "type");
    if (type == "input_json_delta" && is_call_) {
      return add_bounded(reply_.calls.back().arguments, text_of(delta, "partial_json"),
                         kLongestArguments);
    }
    if (type == "text_delta") {
      return add_bounded(reply_.text, text_of(delta, "text"), kLongestReply);
    }
    return {};  // thinking, signatures, citations
  }

  ModelReply reply_;
  bool is_call_ = false;
  bool is_done_ = false;
};

}  // namespace

Json messages_request(const Conversation& conversation, const ModelOptions& options) {
  Json messages = Json::array();
  for (const Turn& turn : conversation.turns) {
    messages.push_back(message_of(turn));
  }
  Json request{{"model", options.model},
               {"system", conversation.system},
               {"messages", std::move(messages)},
               {"max_tokens", options.most_output},
               {"stream", true}};
  Json tools = Json::array();
  for (const ToolOffer& tool : conversation.tools) {
    tools.push_back({{"name", tool.name},
                     {"description", tool.description},
                     {"input_schema", schema_of(tool.schema)}});
  }
  if (!tools.empty()) {
    request["tools"] = std::move(tools);
    request["tool_choice"] = {{"type", conversation.may_call ? "auto" : "none"}};
  }
  if (!conversation.answer_schema.empty()) {
    request["output_config"] = {
        {"format", {{"type", "json_schema"}, {"schema", schema_of(conversation.answer_schema)}}}};
  }
  return request;
}

std::unique_ptr<ReplyDecoder> messages_decoder() {
  return std::make_unique<MessagesDecoder>();
}

}  // namespace sextant::llm
