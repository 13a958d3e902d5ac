// OpenAI's chat completions, as OpenAI, llama.cpp, vLLM, Ollama, SGLang and most gateways speak it.
#include <utility>

#include "llm/protocol_parts.h"

namespace sextant::llm {
namespace {

Json chat_calls(const std::vector<ToolCall>& calls) {
  Json list = Json::array();
  for (const ToolCall& call : calls) {
    list.push_back({{"id", call.id},
                    {"type", "function"},
                    {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  return list;
}

void add_chat_turn(const Turn& turn, Json& messages) {
  switch (turn.speaker) {
    case Speaker::kUser:
      messages.push_back({{"role", "user"}, {"content", turn.text}});
      return;
    case Speaker::kModel: {
      Json message{{"role", "assistant"}, {"content", turn.text}};
      if (!turn.calls.empty()) {
        message["tool_calls"] = chat_calls(turn.calls);
      }
      messages.push_back(std::move(message));
      return;
    }
    case Speaker::kTools:
      break;
  }
  for (const ToolResult& result : turn.results) {
    messages.push_back({{"role", "tool"}, {"tool_call_id", result.id}, {"content", result.text}});
  }
}

class ChatDecoder final : public ReplyDecoder {
 public:
  Result<void> take(const http::ServerEvent& event) override {
    if (event.data == "[DONE]") {
      is_done_ = true;
      return {};
    }
    SEXTANT_TRY(const Json json, event_object(event));
    return take_object(json, "delta");
  }

  Result<void> take_whole(std::string_view body) override {
    SEXTANT_TRY(const Json json, whole_object(body));
    if (const Json& choices = member(json, "choices"); !choices.is_array() || choices.empty()) {
      return external("it has no 'choices': it is no chat completion", kInReply);
    }
    is_done_ = true;
    return take_object(json, "message");
  }

  Result<ModelReply> end() override { return ended_reply(std::move(reply_), is_done_); }

 private:
  // `key` names what is said: a piece of it, or all.
  Result<void> take_object(const Json& json, std::string_view key) {
    if (const Json& usage = member(json, "usage"); usage.is_object()) {
      reply_.usage.input = count_of(usage, "prompt_tokens");
      reply_.usage.output = count_of(usage, "completion_tokens");
    }
    const Json& choices = member(json, "choices");
    if (!choices.is_array() || choices.empty()) {
      return {};
    }
    const Json& choice = choices.front();
    const Json& delta = member(choice, key);
    SEXTANT_CHECK_OK(add_bounded(reply_.text, text_of(delta, "content"), kLongestReply));
    if (!text_of(delta, "refusal").empty()) {
      reply_.ending = Ending::kRefused;
    }
    if (const Json& calls = member(delta, "tool_calls"); calls.is_array()) {
      for (const Json& call : calls) {
        SEXTANT_CHECK_OK(add_to_call(call));
      }
    }
    take_reason(text_of(choice, "finish_reason"));
    return {};
  }

  void take_reason(const std::string& reason) {
    if (reason.empty()) {
      return;
    }
    is_done_ = true;
    if (reason == "length") {
      reply_.ending = Ending::kLength;
    } else if (reason == "content_filter") {
      reply_.ending = Ending::kRefused;
    }
  }

  // A piece of a call. Its place says which; where a server leaves that out, an id begins a new
  // one.
  Result<void> add_to_call(const Json& piece) {
    std::size_t place = reply_.calls.empty() ? 0 : reply_.calls.size() - 1;
    const std::string id = text_of(piece, "id");
    if (member(piece, "index").is_number_integer()) {
      place = static_cast<std::size_t>(count_of(piece, "index"));
    } else if (!id.empty()) {
      place = reply_.calls.size();
    }
    if (place >= kMostCalls) {
      return external("it has more than 64 calls of tools", kInReply);
    }
    if (place >= reply_.calls.size()) {
      reply_.calls.resize(place + 1);
    }
    ToolCall& call = reply_.calls[place];
    const Json& function = member(piece, "function");
    if (!id.empty()) {
      call.id = id.substr(0, kLongestArguments);
    }
    SEXTANT_CHECK_OK(add_bounded(call.name, text_of(function, "name"), kLongestArguments));
    return add_bounded(call.arguments, arguments_text(function, "arguments"), kLongestArguments);
  }

  ModelReply reply_;
  bool is_done_ = false;
};

}  // namespace

Json chat_request(const Conversation& conversation, const ModelOptions& options) {
  Json messages = Json::array();
  messages.push_back({{"role", "system"}, {"content", conversation.system}});
  for (const Turn& turn : conversation.turns) {
    add_chat_turn(turn, messages);
  }
  Json request{{"model", options.model},
               {"messages", std::move(messages)},
               {options.is_openai ? "max_completion_tokens" : "max_tokens", options.most_output},
               {"stream", true},
               {"stream_options", {{"include_usage", true}}}};
  Json tools = Json::array();
  for (const ToolOffer& tool : conversation.tools) {
    tools.push_back({{"type", "function"},
                     {"function",
                      {{"name", tool.name},
                       {"description", tool.description},
                       {"parameters", schema_of(tool.schema)}}}});
  }
  if (!tools.empty()) {
    request["tools"] = std::move(tools);
    request["tool_choice"] = conversation.may_call ? "auto" : "none";
  }
  if (!conversation.answer_schema.empty()) {
    request["response_format"] = {{"type", "json_schema"},
                                  {"json_schema",
                                   {{"name", "answer"},
                                    {"strict", true},
                                    {"schema", schema_of(conversation.answer_schema)}}}};
  }
  return request;
}

std::unique_ptr<ReplyDecoder> chat_decoder() {
  return std::make_unique<ChatDecoder>();
}

}  // namespace sextant::llm
