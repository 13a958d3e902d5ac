#include "llm/scripted_model_testing.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::llm {
namespace {

using ScriptJson = nlohmann::ordered_json;

std::string script_event(const ScriptJson& json, const std::string& name = "") {
  return (name.empty() ? "" : "event: " + name + "\n") + "data: " + json.dump() + "\n\n";
}

// In two pieces, so that a reader must put them together.
std::pair<std::string, std::string> halves(const std::string& text) {
  return {text.substr(0, text.size() / 2), text.substr(text.size() / 2)};
}

ScriptJson chat_chunk(const ScriptJson& delta, const ScriptJson& reason) {
  return {{"object", "chat.completion.chunk"},
          {"choices", {{{"index", 0}, {"delta", delta}, {"finish_reason", reason}}}}};
}

std::string chat_stream(const Line& line) {
  std::string all = script_event(chat_chunk({{"role", "assistant"}, {"content", ""}}, nullptr));
  const auto [first, second] = halves(line.text);
  all += script_event(chat_chunk({{"content", first}}, nullptr));
  all += script_event(chat_chunk({{"content", second}}, nullptr));
  for (std::size_t i = 0; i < line.calls.size(); ++i) {
    const auto [begun, rest] = halves(line.calls[i].arguments);
    const ScriptJson head{{"index", i},
                          {"id", line.calls[i].id},
                          {"type", "function"},
                          {"function", {{"name", line.calls[i].name}, {"arguments", begun}}}};
    all += script_event(chat_chunk({{"tool_calls", {head}}}, nullptr));
    const ScriptJson tail{{"index", i}, {"function", {{"arguments", rest}}}};
    all += script_event(chat_chunk({{"tool_calls", {tail}}}, nullptr));
  }
  const char* const reason =
      line.is_cut_short ? "length" : (line.calls.empty() ? "stop" : "tool_calls");
  all += script_event(chat_chunk(ScriptJson::object(), reason));
  all += script_event({{"choices", ScriptJson::array()},
                       {"usage", {{"prompt_tokens", 1000}, {"completion_tokens", 50}}}});
  return all + "data: [DONE]\n\n";
}

std::string responses_stream(const Line& line) {
  const auto typed = [](const char* type, ScriptJson rest) {
    ScriptJson json{{"type", type}};
    json.update(rest);
    return script_event(json, type);
  };
  std::string all = typed("response.created", {{"response", {{"status", "in_progress"}}}});
  if (!line.text.empty()) {
    all += typed("response.output_text.delta", {{"delta", line.text}});
    all += typed(
        "response.output_item.done",
        {{"item",
          {{"type", "message"}, {"content", {{{"type", "output_text"}, {"text", line.text}}}}}}});
  }
  for (const ToolCall& call : line.calls) {
    all += typed("response.output_item.done", {{"item",
                                                {{"type", "function_call"},
                                                 {"call_id", call.id},
                                                 {"name", call.name},
                                                 {"arguments", call.arguments}}}});
  }
  const ScriptJson usage{{"input_tokens", 1000}, {"output_tokens", 50}};
  if (line.is_cut_short) {
    return all +
           typed("response.incomplete",
                 {{"response",
                   {{"incomplete_details", {{"reason", "max_output_tokens"}}}, {"usage", usage}}}});
  }
  return all + typed("response.completed", {{"response", {{"usage", usage}}}});
}

std::string messages_stream(const Line& line) {
  const auto typed = [](const char* type, ScriptJson rest) {
    ScriptJson json{{"type", type}};
    json.update(rest);
    return script_event(json, type);
  };
  std::string all = typed("message_start", {{"message", {{"usage", {{"input_tokens", 1000}}}}}});
  all += typed("ping", ScriptJson::object());
  int index = 0;
  const auto block = [&](const ScriptJson& start, const std::string& kind, const std::string& key,
                         const std::string& text) {
    all += typed("content_block_start", {{"index", index}, {"content_block", start}});
    const auto [first, second] = halves(text);
    for (const std::string& piece : {first, second}) {
      const ScriptJson delta{{"type", kind}, {key, piece}};
      all += typed("content_block_delta", {{"index", index}, {"delta", delta}});
    }
    all += typed("content_block_stop", {{"index", index++}});
  };
  if (!line.text.empty()) {
    block({{"type", "text"}, {"text", ""}}, "text_delta", "text", line.text);
  }
  for (const ToolCall& call : line.calls) {
    block({{"type", "tool_use"},
           {"id", call.id},
           {"name", call.name},
           {"input", ScriptJson::object()}},
          "input_json_delta", "partial_json", call.arguments);
  }
  const char* const reason =
      line.is_cut_short ? "max_tokens" : (line.calls.empty() ? "end_turn" : "tool_use");
  all += typed("message_delta",
               {{"delta", {{"stop_reason", reason}}}, {"usage", {{"output_tokens", 50}}}});
  return all + typed("message_stop", ScriptJson::object());
}

ScriptJson whole_chat(const Line& line) {
  ScriptJson message{{"role", "assistant"}, {"content", line.text}};
  for (const ToolCall& call : line.calls) {
    message["tool_calls"].push_back(
        {{"id", call.id},
         {"type", "function"},
         {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  const char* const reason =
      line.is_cut_short ? "length" : (line.calls.empty() ? "stop" : "tool_calls");
  return {{"object", "chat.completion"},
          {"choices", {{{"index", 0}, {"message", message}, {"finish_reason", reason}}}},
          {"usage", {{"prompt_tokens", 1000}, {"completion_tokens", 50}}}};
}

ScriptJson whole_response(const Line& line) {
  ScriptJson output = ScriptJson::array();
  output.push_back({{"type", "reasoning"}, {"summary", ScriptJson::array()}});
  if (!line.text.empty()) {
    output.push_back(
        {{"type", "message"}, {"content", {{{"type", "output_text"}, {"text", line.text}}}}});
  }
  for (const ToolCall& call : line.calls) {
    output.push_back({{"type", "function_call"},
                      {"call_id", call.id},
                      {"name", call.name},
                      {"arguments", call.arguments}});
  }
  ScriptJson response{{"object", "response"},
                      {"status", line.is_cut_short ? "incomplete" : "completed"},
                      {"error", nullptr},
                      {"output", output},
                      {"usage", {{"input_tokens", 1000}, {"output_tokens", 50}}}};
  if (line.is_cut_short) {
    response["incomplete_details"] = {{"reason", "max_output_tokens"}};
  }
  return response;
}

// What is no JSON stands as a text: of the wrong type, then.
ScriptJson object_or_text(const std::string& arguments) {
  ScriptJson json = ScriptJson::parse(arguments, nullptr, false);
  return json.is_discarded() ? ScriptJson(arguments) : json;
}

ScriptJson whole_message(const Line& line) {
  ScriptJson content = ScriptJson::array();
  if (!line.text.empty()) {
    content.push_back({{"type", "text"}, {"text", line.text}});
  }
  for (const ToolCall& call : line.calls) {
    content.push_back({{"type", "tool_use"},
                       {"id", call.id},
                       {"name", call.name},
                       {"input", object_or_text(call.arguments)}});
  }
  const char* const reason =
      line.is_cut_short ? "max_tokens" : (line.calls.empty() ? "end_turn" : "tool_use");
  return {{"type", "message"},
          {"content", content},
          {"stop_reason", reason},
          {"usage", {{"input_tokens", 1000}, {"output_tokens", 50}}}};
}

// Every text a number, every number a list, every list a text.
ScriptJson turned(const ScriptJson& json) {
  if (json.is_object()) {
    ScriptJson all = ScriptJson::object();
    for (const auto& [key, value] : json.items()) {
      all[key] = key == "type" ? value : turned(value);  // else no event would be looked at
    }
    return all;
  }
  return json.is_string() ? ScriptJson(7) : json.is_array() ? ScriptJson("list") : ScriptJson({7});
}

std::string of_wrong_types(const std::string& stream) {
  std::string all;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t end = std::min(stream.find('\n', at), stream.size());
    const std::string line = stream.substr(at, end - at);
    const ScriptJson json = line.starts_with("data: ")
                                ? ScriptJson::parse(line.substr(6), nullptr, false)
                                : ScriptJson();
    all += (json.is_object() ? "data: " + turned(json).dump() : line) + "\n";
    at = end + 1;
  }
  return all;
}

// The key as it came, so that a test sees whether it is said back.
std::string key_of(const http::Request& request) {
  return std::string(http::value_of(request.headers, "authorization")) +
         std::string(http::value_of(request.headers, "x-api-key"));
}

void answer_error(int status, const std::string& message, http::Exchange& exchange) {
  exchange.answer({.status = status,
                   .headers = {{"Content-Type", "application/json"}, {"Retry-After", "0"}},
                   .body = ScriptJson{{"error", {{"message", message}}}}.dump()});
}

}  // namespace

std::string streamed(const Line& line, std::string_view path) {
  if (path.ends_with("/messages")) {
    return messages_stream(line);
  }
  return path.ends_with("/responses") ? responses_stream(line) : chat_stream(line);
}

std::string whole_reply(const Line& line, std::string_view path) {
  if (path.ends_with("/messages")) {
    return whole_message(line).dump();
  }
  return path.ends_with("/responses") ? whole_response(line).dump() : whole_chat(line).dump();
}

Meaning meaning_of_words(std::function<std::string(const std::string& word)> spelled,
                         std::uint64_t seed) {
  constexpr std::size_t kDimensions = 192;
  return [spelled = std::move(spelled), seed](const std::string& text) {
    std::vector<double> vector(kDimensions, 0.01);  // never without a direction
    std::string word;
    for (const char c : text + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        continue;
      }
      if (word.size() > 2) {  // "of", "in", "a" mean little
        std::uint64_t hash = 14695981039346656037ULL * seed;
        for (const char letter : spelled(word)) {
          hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
        }
        for (int i = 0; i < 8; ++i) {
          hash = hash * 6364136223846793005ULL + 1442695040888963407ULL;
          vector[(hash >> 33U) % kDimensions] += (hash >> 63U) == 0 ? 1.0 : -1.0;
        }
      }
      word.clear();
    }
    return vector;
  };
}

ScriptedModel::ScriptedModel(std::vector<Line> script, Line forever, Meaning meaning)
    : script_(std::move(script)),
      forever_(std::move(forever)),
      meaning_(std::move(meaning)),
      server_(
          *http::Server::start({}, [this](const http::Request& request, http::Exchange& exchange) {
            answer(request, exchange);
          })) {}

http::Url ScriptedModel::url() const {
  return *http::parse_url(fmt::format("http://127.0.0.1:{}/v1", server_.port()), "");
}

std::vector<SeenRequest> ScriptedModel::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

std::string ScriptedModel::all_bodies() const {
  std::string all;
  for (const SeenRequest& one : seen()) {
    all += one.body + "\n";
  }
  return all;
}

void ScriptedModel::embed(const http::Request& request, http::Exchange& exchange) const {
  const ScriptJson asked = ScriptJson::parse(request.body, nullptr, false);
  ScriptJson data = ScriptJson::array();
  std::size_t bytes = 0;
  for (const ScriptJson& text : asked["input"]) {
    bytes += text.get<std::string>().size();
    data.push_back({{"object", "embedding"},
                    {"index", data.size()},
                    {"embedding", meaning_(text.get<std::string>())}});
  }
  const ScriptJson body{{"object", "list"},
                        {"data", data},
                        {"model", asked["model"]},
                        {"usage", {{"prompt_tokens", bytes / 4}, {"total_tokens", bytes / 4}}}};
  exchange.answer(
      {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = body.dump()});
}

void ScriptedModel::answer(const http::Request& request, http::Exchange& exchange) {
  Line line = forever_;
  const bool embeds = request.target.ends_with("/embeddings");
  {
    const std::lock_guard lock(mutex_);
    if (!embeds && answered_ < script_.size()) {
      line = script_[answered_];
    }
    answered_ += embeds ? 0 : 1;
    seen_.push_back({request.target, request.headers, request.body});
  }
  if (embeds) {
    return meaning_ ? embed(request, exchange)
                    : exchange.answer({.status = 404, .body = "{\"error\": \"no such path\"}"});
  }
  line.is_whole = line.is_whole || request.body.find(kWholeModel) != std::string::npos;
  std::string said =
      line.is_whole ? whole_reply(line, request.target) : streamed(line, request.target);
  switch (line.fault) {
    case Fault::kNone:
      break;
    case Fault::kSilent:
      while (!exchange.gone()) {
        std::this_thread::yield();
      }
      return;
    case Fault::kBusy:
      return answer_error(429, "slow down", exchange);
    case Fault::kBroken:
      return answer_error(500, "while serving " + key_of(request), exchange);
    case Fault::kRefusesKey:
      return answer_error(401, "Incorrect API key provided: " + key_of(request), exchange);
    case Fault::kCut:
      said = said.substr(0, said.size() * 3 / 5);  // behind the first half of the text
      break;
    case Fault::kInvalidJson:
      said = line.is_whole ? "{" + said : "data: {\"choices\": [}\n\n" + said;
      break;
    case Fault::kSaid:
      said = ScriptJson{{"error", {{"message", line.text}}}}.dump();
      said = line.is_whole ? said : "event: error\ndata: " + said + "\n\n";
      break;
    case Fault::kNoStream:
      return exchange.answer({.status = 200, .body = "{\"choices\": []}"});
    case Fault::kWrongTypes:
      said = line.is_whole ? turned(ScriptJson::parse(said)).dump() : of_wrong_types(said);
      break;
  }
  if (line.is_whole) {
    return exchange.answer(
        {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = said});
  }
  exchange.begin(200, {{"Content-Type", "text/event-stream"}});
  exchange.write(said);
}

}  // namespace sextant::llm
