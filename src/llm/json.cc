#include "llm/json.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::llm {
namespace {

constexpr int kDeepest = 64;
// An object keeps its keys in their order, and each is looked for among all before it.
constexpr std::int64_t kMostMembers = 20'000;
constexpr std::int64_t kMostCounted = std::int64_t{1} << 40U;

struct JsonSize {
  int deepest = 0;
  std::int64_t members = 0;  // of all its objects
};

// Brackets and colons outside strings; what is not JSON may be counted wrong, never too low for
// what is.
JsonSize size_of_json(std::string_view text) {
  JsonSize size;
  int depth = 0;
  bool is_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_text) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        is_text = false;
      }
      continue;
    }
    is_text = c == '"';
    size.members += c == ':' ? 1 : 0;
    if (c == '{' || c == '[') {
      size.deepest = std::max(size.deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return size;
}

}  // namespace

Result<Json> parsed_object(std::string_view text, std::string_view where) {
  const JsonSize size = size_of_json(text);
  if (size.deepest > kDeepest) {
    return external("JSON nested more than 64 deep", std::string(where));
  }
  if (size.members > kMostMembers) {
    return external(fmt::format("JSON with more than {} members", kMostMembers),
                    std::string(where));
  }
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return external("no JSON object: '" + printable(text) + "'", std::string(where));
  }
  return json;
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Json& member(const Json& json, std::string_view key) {
  static const Json kNone;
  if (!json.is_object()) {
    return kNone;
  }
  const auto found = json.find(std::string(key));
  return found == json.end() ? kNone : *found;
}

std::string text_of(const Json& json, std::string_view key) {
  const Json& found = member(json, key);
  return found.is_string() ? found.get<std::string>() : std::string();
}

std::int64_t count_of(const Json& json, std::string_view key) {
  const Json& found = member(json, key);
  if (found.is_number_unsigned()) {
    return static_cast<std::int64_t>(
        std::min<std::uint64_t>(found.get<std::uint64_t>(), kMostCounted));
  }
  return found.is_number_integer()
             ? std::clamp<std::int64_t>(found.get<std::int64_t>(), 0, kMostCounted)
             : 0;
}

Json schema_of(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : Json::object();
}

std::string error_message(const Json& json) {
  const Json& error = member(json, "error");
  if (error.is_string()) {
    return error.get<std::string>();
  }
  const std::string message = text_of(error, "message");
  return message.empty() ? text_of(json, "message") : message;
}

}  // namespace sextant::llm
