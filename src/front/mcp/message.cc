#include "front/mcp/message.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::front::mcp {
namespace {

// Why the bytes are not looked at any further; nothing: they may be parsed.
std::optional<std::string> breaks_limits(std::string_view bytes) {
  if (bytes.size() > kMostMessageBytes) {
    return fmt::format("the message is longer than {} bytes", kMostMessageBytes);
  }
  int depth = 0;
  int values = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (in_text) {
      i += c == '\\' ? 1U : 0U;
      in_text = c != '"';
      continue;
    }
    in_text = c == '"';
    depth += c == '[' || c == '{' ? 1 : 0;
    depth -= c == ']' || c == '}' ? 1 : 0;
    values += c == ',' || c == ':' ? 1 : 0;
    if (depth > kMostMessageDepth) {
      return fmt::format("the message is nested deeper than {} levels", kMostMessageDepth);
    }
    if (values > kMostMessageValues) {
      return fmt::format("the message holds more than {} values", kMostMessageValues);
    }
  }
  return std::nullopt;
}

bool is_id(const Json& json) {
  return json.is_string() || json.is_number_integer();
}

Rejected rejected(std::optional<Json> id, std::string why) {
  return {.id = std::move(id), .code = kInvalidRequest, .why = std::move(why)};
}

Message message_of(const Json& json) {
  if (json.is_array()) {
    return rejected({}, "batches of messages are not part of MCP");
  }
  if (!json.is_object()) {
    return rejected({}, "a message is a JSON object");
  }
  const auto id = json.find("id");
  const bool has_id = id != json.end();
  if (has_id && !is_id(*id)) {
    return rejected({}, "an id is text or a whole number");
  }
  const std::optional<Json> known = has_id ? std::optional(*id) : std::nullopt;
  if (text_of(json, "jsonrpc") != "2.0") {
    return rejected(known, "jsonrpc is not \"2.0\"");
  }
  const auto method = json.find("method");
  if (method == json.end()) {
    if (json.contains("result") || json.contains("error")) {
      return Response{};
    }
    return rejected(known, "there is no method");
  }
  if (!method->is_string()) {
    return rejected(known, "a method is text");
  }
  const auto params = json.find("params");
  if (params != json.end() && !params->is_object()) {
    return rejected(known, "params are an object");
  }
  Json given = params == json.end() ? Json::object() : *params;
  if (!has_id) {
    return Notification{method->get<std::string>(), std::move(given)};
  }
  return Request{*id, method->get<std::string>(), std::move(given)};
}

}  // namespace

Message read_message(std::string_view bytes) {
  if (const auto why = breaks_limits(bytes)) {
    return rejected({}, *why);
  }
  const Json json = Json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return Rejected{.id = {}, .code = kParseError, .why = "the message is not JSON"};
  }
  return message_of(json);
}

Json result_message(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json error_message(const std::optional<Json>& id, const Failure& failure) {
  Json error{{"code", failure.code}, {"message", failure.message}};
  if (!failure.data.is_null()) {
    error["data"] = failure.data;
  }
  Json message{{"jsonrpc", "2.0"}};
  if (id) {
    message["id"] = *id;
  }
  message["error"] = std::move(error);
  return message;
}

Json notification_message(std::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

}  // namespace sextant::front::mcp
