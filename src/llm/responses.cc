// OpenAI's Responses. Nothing is left with the server (store: false), so each request has the whole
// conversation; the model's hidden reasoning between two calls is not carried over.
#include <utility>

#include "base/text.h"
#include "llm/protocol_parts.h"

namespace sextant::llm {
namespace {

void add_response_turn(const Turn& turn, Json& input) {
  switch (turn.speaker) {
    case Speaker::kUser:
      input.push_back({{"role", "user"}, {"content", turn.text}});
      return;
    case Speaker::kModel:
      if (!turn.text.empty()) {
        input.push_back({{"role", "assistant"}, {"content", turn.text}});
      }
      for (const ToolCall& call : turn.calls) {
        input.push_back({{"type", "function_call"},
                         {"call_id", call.id},
                         {"name", call.name},
                         {"arguments", call.arguments}});
      }
      return;
    case Speaker::kTools:
      break;
  }
  for (const ToolResult& result : turn.results) {
    input.push_back(
        {{"type", "function_call_output"}, {"call_id", result.id}, {"output", result.text}});
  }
}

class ResponsesDecoder final : public ReplyDecoder {
 public:
  Result<void> take(const http::ServerEvent& event) override {
    if (event.data == "[DONE]") {
      return {};
    }
    SEXTANT_TRY(const Json json, parsed_object(event.data, kInReply));
    const std::string type = text_of(json, "type");
    if (type == "error" || event.name == "error") {
      return broken_off(json);
    }
    if (type == "response.output_item.done") {
      return take_item(member(json, "item"));
    }
    const Json& response = member(json, "response");
    if (type == "response.failed") {
      return broken_off(response);
    }
    if (type == "response.completed" || type == "response.incomplete") {
      take_end(response, type == "response.incomplete");
    }
    return {};
  }

  Result<void> take_whole(std::string_view body) override {
    SEXTANT_TRY(const Json response, whole_object(body));
    const Json& output = member(response, "output");
    if (!output.is_array()) {
      return external("it has no 'output': it is no response", kInReply);
    }
    for (const Json& item : output) {
      SEXTANT_CHECK_OK(take_item(item));
    }
    const std::string status = text_of(response, "status");
    if (status == "failed" || status == "cancelled") {
      return broken_off(response);
    }
    take_end(response, status == "incomplete");
    return {};
  }

  Result<ModelReply> end() override { return ended_reply(std::move(reply_), is_done_); }

 private:
  static Result<void> broken_off(const Json& json) {
    return external("the server breaks off: " + printable(error_message(json), 300), kInReply);
  }

  void take_end(const Json& response, bool is_incomplete) {
    is_done_ = true;
    const Json& usage = member(response, "usage");
    reply_.usage.input = count_of(usage, "input_tokens");
    reply_.usage.output = count_of(usage, "output_tokens");
    if (is_incomplete) {
      const std::string why = text_of(member(response, "incomplete_details"), "reason");
      reply_.ending = why == "content_filter" ? Ending::kRefused : Ending::kLength;
    }
  }

  Result<void> take_item(const Json& item) {
    const std::string type = text_of(item, "type");
    if (type == "function_call") {
      if (reply_.calls.size() >= kMostCalls) {
        return external("it has more than 64 calls of tools", kInReply);
      }
      ToolCall call{.id = text_of(item, "call_id"), .name = text_of(item, "name"), .arguments = {}};
      SEXTANT_CHECK_OK(
          add_bounded(call.arguments, arguments_text(item, "arguments"), kLongestArguments));
      reply_.calls.push_back(std::move(call));
    }
    if (type != "message") {
      return {};
    }
    const Json& content = member(item, "content");
    if (!content.is_array()) {
      return {};
    }
    for (const Json& part : content) {
      if (text_of(part, "type") == "refusal") {
        reply_.ending = Ending::kRefused;
      }
      SEXTANT_CHECK_OK(add_bounded(reply_.text, text_of(part, "text"), kLongestReply));
    }
    return {};
  }

  ModelReply reply_;
  bool is_done_ = false;
};

}  // namespace

Json responses_request(const Conversation& conversation, const ModelOptions& options) {
  Json input = Json::array();
  for (const Turn& turn : conversation.turns) {
    add_response_turn(turn, input);
  }
  Json request{{"model", options.model},
               {"instructions", conversation.system},
               {"input", std::move(input)},
               {"max_output_tokens", options.most_output},
               {"store", false},
               {"stream", true}};
  Json tools = Json::array();
  for (const ToolOffer& tool : conversation.tools) {
    tools.push_back({{"type", "function"},
                     {"name", tool.name},
                     {"description", tool.description},
                     {"parameters", schema_of(tool.schema)},
                     {"strict", false}});
  }
  if (!tools.empty()) {
    request["tools"] = std::move(tools);
    request["tool_choice"] = conversation.may_call ? "auto" : "none";
  }
  if (!conversation.answer_schema.empty()) {
    request["text"] = {{"format",
                        {{"type", "json_schema"},
                         {"name", "answer"},
                         {"strict", true},
                         {"schema", schema_of(conversation.answer_schema)}}}};
  }
  return request;
}

std::unique_ptr<ReplyDecoder> responses_decoder() {
  return std::make_unique<ResponsesDecoder>();
}

}  // namespace sextant::llm
