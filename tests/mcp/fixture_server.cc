// The protocol of `sextant mcp` with what the official conformance tool asks a server to offer: its
// scenarios call tools, prompts and resources by fixed names ("test_simple_text"). What Sextant
// itself offers is asked over the program (clients.mjs); here the protocol below it is on trial.
//
// Listens on a free port of 127.0.0.1, prints the address and answers until its input ends.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "base/sha256.h"
#include "front/mcp/http.h"
#include "front/mcp/offer.h"

namespace sextant::front::mcp {
namespace {

// One red dot, and no sound at all.
constexpr std::string_view kPicture =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg"
    "==";
constexpr std::string_view kSound = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

Json text(const std::string& words) {
  return {{"type", "text"}, {"text", words}};
}
Json picture() {
  return {{"type", "image"}, {"data", kPicture}, {"mimeType", "image/png"}};
}
Json embedded(const std::string& uri, const std::string& type, const std::string& words) {
  return {{"type", "resource"}, {"resource", {{"uri", uri}, {"mimeType", type}, {"text", words}}}};
}
Json content(std::initializer_list<Json> blocks) {
  Json list = Json::array();
  for (const Json& one : blocks) {
    list.push_back(one);
  }
  return {{"content", std::move(list)}};
}

Named tool(const std::string& name, Handler handler) {
  return {{{"name", name},
           {"description", "for the conformance tool"},
           {"inputSchema", {{"type", "object"}}}},
          std::move(handler)};
}
Named tool_saying(const std::string& name, Json result) {
  return tool(name, [result = std::move(result)](const Call&) { return result; });
}

Handled with_progress(const Call& call) {
  for (const int done : {0, 50, 100}) {
    call.progress(done, 100, "");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return content({text("done")});
}

// Three messages, some time apart.
Handled with_logging(const Call& call) {
  for (const char* words :
       {"Tool execution started", "Tool processing data", "Tool execution completed"}) {
    call.log(LogLevel::kInfo, words);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return content({text("logged")});
}

std::vector<Named> plain_tools() {
  const Json mixed_text = text("Multiple content types test:");
  Json failed = content({text("This tool intentionally returns an error for testing")});
  failed["isError"] = true;
  return {tool_saying("test_simple_text",
                      content({text("This is a simple text response for testing.")})),
          tool_saying("test_image_content", content({picture()})),
          tool_saying("test_audio_content",
                      content({{{"type", "audio"}, {"data", kSound}, {"mimeType", "audio/wav"}}})),
          tool_saying("test_embedded_resource",
                      content({embedded("test://embedded-resource", "text/plain",
                                        "This is an embedded resource content.")})),
          tool_saying("test_multiple_content_types",
                      content({mixed_text, picture(),
                               embedded("test://mixed-content-resource", "application/json",
                                        "{\"test\":\"data\",\"value\":123}")})),
          tool_saying("test_error_handling", failed),
          tool("test_logging_tool", with_logging),
          tool("test_tool_with_logging", with_logging),
          tool("test_tool_with_progress", with_progress),
          tool("test_missing_capability", [](const Call& call) -> Handled {
            if (call.capabilities.contains("sampling")) {
              return content({text("sampling was declared")});
            }
            return tl::unexpected(
                Failure{.code = kMissingCapability,
                        .message = "sampling is not declared",
                        .data = {{"requiredCapabilities", {{"sampling", Json::object()}}}},
                        .http_status = 400});
          })};
}

// --- Results that ask the client for more (2026-07-28). ---

Json form(const std::string& message, const std::string& key, const std::string& type) {
  return {{"method", "elicitation/create"},
          {"params",
           {{"message", message},
            {"requestedSchema",
             {{"type", "object"},
              {"properties", {{key, {{"type", type}}}}},
              {"required", Json::array({key})}}}}}};
}
Json sampling() {
  return {
      {"method", "sampling/createMessage"},
      {"params",
       {{"messages",
         Json::array({{{"role", "user"}, {"content", text("What is the capital of France?")}}})},
        {"maxTokens", 100}}}};
}
Json roots() {
  return {{"method", "roots/list"}, {"params", Json::object()}};
}

Json asks(Json requests, const std::string& state = {}) {
  Json result{{"resultType", "input_required"}, {"inputRequests", std::move(requests)}};
  if (!state.empty()) {
    result["requestState"] = state;
  }
  return result;
}

// Were all of these answered, each by an object?
bool answered(const Call& call, std::initializer_list<const char*> keys) {
  const Json& responses = object_of(call.params, "inputResponses");
  return std::ranges::all_of(keys, [&](const char* key) {
    return responses.contains(key) && responses.at(key).is_object();
  });
}

// A state that cannot be made up: with its digest, which takes a secret of this process.
std::string sealed(const std::string& state) {
  static const std::string kSecret = sha256_hex(fmt::format("{}", ::getpid()));
  return state + "." + sha256_hex(kSecret + state);
}
bool is_ours(const std::string& state) {
  return sealed(state.substr(0, state.find('.'))) == state;
}
Handled tampered() {
  return tl::unexpected(Failure{.message = "requestState was not made here"});
}

// Asks once; answers what was found.
Named asking_tool(const std::string& name, const char* key, Json request,
                  std::function<std::string(const Json& response)> words) {
  return tool(name, [=](const Call& call) -> Handled {
    if (!answered(call, {key})) {
      return asks({{key, request}});
    }
    return content({text(words(call.params.at("inputResponses").at(key)))});
  });
}

// Asks once, with a state that must come back whole.
Named stateful_tool(const std::string& name) {
  return tool(name, [](const Call& call) -> Handled {
    const std::string state = text_of(call.params, "requestState");
    if (!state.empty() && !is_ours(state)) {
      return tampered();
    }
    if (state.empty() || !answered(call, {"confirm"})) {
      return asks({{"confirm", form("Please confirm", "ok", "boolean")}}, sealed("asked"));
    }
    return content({text("state-ok")});
  });
}

Handled several_inputs(const Call& call) {
  if (!answered(call, {"user_name", "greeting", "client_roots"}) ||
      !is_ours(text_of(call.params, "requestState"))) {
    return asks({{"user_name", form("What is your name?", "name", "string")},
                 {"greeting", sampling()},
                 {"client_roots", roots()}},
                sealed("asked"));
  }
  return content({text("all three were given")});
}

Handled several_rounds(const Call& call) {
  const std::string state = text_of(call.params, "requestState");
  if (state == sealed("round 2") && answered(call, {"step2"})) {
    return content({text("both rounds were answered")});
  }
  if (state == sealed("round 1") && answered(call, {"step1"})) {
    return asks({{"step2", form("Step 2: What is your favorite color?", "color", "string")}},
                sealed("round 2"));
  }
  return asks({{"step1", form("Step 1: What is your name?", "name", "string")}}, sealed("round 1"));
}

// Only what the client can answer.
Handled by_capability(const Call& call) {
  Json requests = Json::object();
  if (call.capabilities.contains("sampling")) {
    requests["capital_question"] = sampling();
  }
  if (call.capabilities.contains("elicitation")) {
    requests["user_name"] = form("What is your name?", "name", "string");
  }
  return asks(std::move(requests));
}

std::vector<Named> asking_tools() {
  const auto said = [](const char* words) {
    return [words](const Json& response) { return words + one_line(response); };
  };
  const Json name = form("What is your name?", "name", "string");
  return {asking_tool("test_input_required_result_elicitation", "user_name", name,
                      [](const Json& response) {
                        return "Hello, " + text_of(object_of(response, "content"), "name") + "!";
                      }),
          asking_tool("test_streaming_elicitation", "user_name", name, said("given: ")),
          asking_tool("test_input_required_result_sampling", "capital_question", sampling(),
                      said("sampled: ")),
          asking_tool("test_input_required_result_list_roots", "client_roots", roots(),
                      said("roots: ")),
          stateful_tool("test_input_required_result_request_state"),
          stateful_tool("test_input_required_result_tampered_state"),
          tool("test_input_required_result_multiple_inputs", several_inputs),
          tool("test_input_required_result_multi_round", several_rounds),
          tool("test_input_required_result_capabilities", by_capability)};
}

// --- Prompts and resources. ---

Json message(const Json& said) {
  return {{"role", "user"}, {"content", said}};
}
Json messages(std::initializer_list<Json> all) {
  Json list = Json::array();
  for (const Json& one : all) {
    list.push_back(message(one));
  }
  return {{"messages", std::move(list)}};
}
Named prompt(const std::string& name, std::initializer_list<const char*> arguments,
             Handler handler) {
  Json listed{{"name", name}, {"description", "for the conformance tool"}};
  for (const char* argument : arguments) {
    listed["arguments"].push_back(
        {{"name", argument}, {"description", "any text"}, {"required", true}});
  }
  return {std::move(listed), std::move(handler)};
}

std::vector<Named> prompts() {
  return {
      prompt("test_simple_prompt", {},
             [](const Call&) { return messages({text("This is a simple prompt for testing.")}); }),
      prompt("test_prompt_with_arguments", {"arg1", "arg2"},
             [](const Call& call) {
               const Json& given = object_of(call.params, "arguments");
               return messages({text(fmt::format("Prompt with arguments: arg1='{}', arg2='{}'",
                                                 text_of(given, "arg1"), text_of(given, "arg2")))});
             }),
      prompt("test_prompt_with_embedded_resource", {"resourceUri"},
             [](const Call& call) {
               return messages(
                   {embedded(text_of(object_of(call.params, "arguments"), "resourceUri"),
                             "text/plain", "Embedded resource content for testing."),
                    text("Please process the embedded resource above.")});
             }),
      prompt("test_prompt_with_image", {},
             [](const Call&) {
               return messages({picture(), text("Please analyze the image above.")});
             }),
      prompt("test_input_required_result_prompt", {}, [](const Call& call) -> Handled {
        if (!answered(call, {"user_context"})) {
          return asks(
              {{"user_context", form("What context should the prompt use?", "context", "string")}});
        }
        return messages({text("with the context that was given")});
      })};
}

Handled read(const std::string& uri, const Call& /*call*/) {
  const auto contents = [&](const char* type, const char* key, const std::string& value) {
    const Json one{{"uri", uri}, {"mimeType", type}, {key, value}};
    return Json{{"contents", Json::array({one})}};
  };
  if (uri == "test://static-text") {
    return contents("text/plain", "text", "This is the content of the static text resource.");
  }
  if (uri == "test://static-binary") {
    return contents("image/png", "blob", std::string(kPicture));
  }
  constexpr std::string_view kBefore = "test://template/";
  constexpr std::string_view kAfter = "/data";
  if (uri.starts_with(kBefore) && uri.ends_with(kAfter)) {
    const std::string id = uri.substr(kBefore.size(), uri.size() - kBefore.size() - kAfter.size());
    const Json data{{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}};
    return contents("application/json", "text", one_line(data));
  }
  return Json(nullptr);
}

Json resource(const char* uri, const char* type) {
  return {
      {"uri", uri}, {"name", uri}, {"description", "for the conformance tool"}, {"mimeType", type}};
}

Offer fixture_offer() {
  Offer offer;
  offer.info = {{"name", "sextant-fixture"}, {"version", "1"}};
  offer.instructions = "What the conformance tool asks for.";
  offer.tools = plain_tools();
  for (Named& one : asking_tools()) {
    offer.tools.push_back(std::move(one));
  }
  offer.prompts = prompts();
  offer.resources = Json::array({resource("test://static-text", "text/plain"),
                                 resource("test://static-binary", "image/png")});
  offer.templates = Json::array({{{"uriTemplate", "test://template/{id}/data"},
                                  {"name", "template"},
                                  {"description", "for the conformance tool"},
                                  {"mimeType", "application/json"}}});
  offer.read = read;
  offer.complete = [](const Call&) {
    return Json{{"completion", {{"values", Json::array({"test"})}, {"hasMore", false}}}};
  };
  return offer;
}

int run() {
  const Server server(fixture_offer());
  const auto say = [](std::uint16_t port) {
    std::fputs(fmt::format("http://127.0.0.1:{}/mcp\n", port).c_str(), stdout);
    std::fflush(stdout);
  };
  const auto until_input_ends = [] {
    std::array<char, 64> ignored{};
    while (::read(STDIN_FILENO, ignored.data(), ignored.size()) > 0) {
    }
  };
  const auto served = serve_http(server, 0, say, until_input_ends);
  return served ? 0 : 1;
}

}  // namespace
}  // namespace sextant::front::mcp

int main() {
  return sextant::front::mcp::run();
}
