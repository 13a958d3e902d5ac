// JSON-RPC 2.0 as MCP uses it: one message from foreign bytes, and replies as messages.
//
// Limits, held before anything is parsed: kMostMessageBytes, kMostMessageDepth levels of brackets
// and kMostMessageValues commas and colons. Batches are no part of MCP since 2025-06-18.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "front/mcp/json.h"

namespace sextant::front::mcp {

inline constexpr std::size_t kMostMessageBytes = std::size_t{1} << 20U;
inline constexpr int kMostMessageDepth = 32;
inline constexpr int kMostMessageValues = 20'000;

// Error codes of JSON-RPC and of the protocol (specification 2026-07-28, basic, error codes).
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kMissingCapability = -32021;
inline constexpr int kUnsupportedVersion = -32022;
// 2025-11-25 and earlier; later kInvalidParams.
inline constexpr int kResourceNotFound = -32002;

struct Request {
  Json id;  // text or a whole number
  std::string method;
  Json params = Json::object();
};

struct Notification {
  std::string method;
  Json params = Json::object();
};

// An answer to a request that we never send.
struct Response {};

// Bytes that are no message.
struct Rejected {
  std::optional<Json> id;  // of the request, where it could be read
  int code = kInvalidRequest;
  std::string why;
};

using Message = std::variant<Request, Notification, Response, Rejected>;

Message read_message(std::string_view bytes);

struct Failure {
  int code = kInvalidParams;
  std::string message;
  Json data = nullptr;
  int http_status = 200;
};

Json result_message(const Json& id, Json result);
// Without an id where it is not known.
Json error_message(const std::optional<Json>& id, const Failure& failure);
Json notification_message(std::string_view method, Json params);

}  // namespace sextant::front::mcp
