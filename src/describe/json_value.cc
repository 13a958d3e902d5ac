#include "describe/json_value.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"

namespace sextant::describe {

struct JsonValue::Document {
  std::string text;
  std::string where;
  nlohmann::json root;
};

namespace {

using Json = nlohmann::json;

constexpr int kDeepest = 64;
constexpr double kTwoTo63 = 9223372036854775808.0;

const Json& as_json(const void* node) {
  return *static_cast<const Json*>(node);
}

// Offset of the bracket that opens one level too many, before anything is built.
std::optional<std::size_t> too_deep_at(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) {
        return i;
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return std::nullopt;
}

std::string json_place(std::string_view where, std::string_view text, std::size_t offset) {
  const LineColumn position = line_column(text, offset < text.size() ? offset : text.size());
  return fmt::format("{}:{}:{}", where, position.line, position.column);
}

// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …" → "syntax
// error …"
std::string reason(std::string_view message) {
  const std::size_t column = message.find("column");
  const std::size_t colon = message.find(column == std::string_view::npos ? "] " : ": ",
                                         column == std::string_view::npos ? 0 : column);
  return printable(colon == std::string_view::npos ? message : message.substr(colon + 2), 160);
}

// Offset just past `"key":` at or after `from`; npos if the text has none.
std::size_t offset_past_key(std::string_view text, std::string_view key, std::size_t from) {
  const std::string quoted = fmt::format("\"{}\"", key);
  for (std::size_t found = text.find(quoted, from); found != std::string_view::npos;
       found = text.find(quoted, found + 1)) {
    const std::size_t next = text.find_first_not_of(" \t\r\n", found + quoted.size());
    const bool escaped = found > 0 && text[found - 1] == '\\';
    if (!escaped && next != std::string_view::npos && text[next] == ':') {
      return next + 1;
    }
  }
  return std::string_view::npos;
}

std::string_view kind_word(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBoolean:
      return "a boolean";
    case JsonValue::Kind::kNumber:
      return "a number";
    case JsonValue::Kind::kString:
      return "a string";
    case JsonValue::Kind::kArray:
      return "a list";
    case JsonValue::Kind::kObject:
      return "an object";
  }
  return "?";
}

// A short value as written, a long one by its kind.
std::string shown(const JsonValue& value) {
  if (value.kind() == JsonValue::Kind::kArray || value.kind() == JsonValue::Kind::kObject) {
    return std::string(kind_word(value.kind()));
  }
  return printable(value.json(), 60);
}

}  // namespace

JsonValue::JsonValue(std::shared_ptr<const Document> document, const void* node, std::string path)
    : document_(std::move(document)), node_(node), path_(std::move(path)) {}

Result<JsonValue> JsonValue::parse(std::string_view text, std::string_view where, Bytes limit) {
  SEXTANT_CHECK_OK(checked_text(text, limit, where));
  if (const auto deep = too_deep_at(text)) {
    return invalid("nested too deeply", json_place(where, text, *deep),
                   fmt::format("at most {} levels", kDeepest));
  }
  auto document = std::make_shared<Document>();
  document->text = text;
  document->where = where;
  try {
    document->root = Json::parse(text);
  } catch (const Json::parse_error& error) {
    return invalid("not JSON: " + reason(error.what()),
                   json_place(where, text, error.byte == 0 ? 0 : error.byte - 1),
                   "JSON (RFC 8259)");
  } catch (const Json::exception& error) {
    return invalid("not JSON: " + reason(error.what()), std::string(where), "JSON (RFC 8259)");
  }
  const void* root = &document->root;
  return JsonValue(std::move(document), root, {});
}

JsonValue::Kind JsonValue::kind() const {
  const Json& value = as_json(node_);
  if (value.is_object()) {
    return Kind::kObject;
  }
  if (value.is_array()) {
    return Kind::kArray;
  }
  if (value.is_string()) {
    return Kind::kString;
  }
  if (value.is_boolean()) {
    return Kind::kBoolean;
  }
  return value.is_number() ? Kind::kNumber : Kind::kNull;
}

std::optional<JsonValue> JsonValue::member(std::string_view key) const {
  const Json& value = as_json(node_);
  if (!value.is_object()) {
    return std::nullopt;
  }
  const auto found = value.find(key);
  if (found == value.end() || found->is_null()) {
    return std::nullopt;
  }
  return JsonValue(document_, &*found, fmt::format("{}\n{}", path_, key));
}

bool JsonValue::states(std::string_view key) const {
  const Json& value = as_json(node_);
  return value.is_object() && value.contains(key);
}

std::vector<std::string> JsonValue::keys() const {
  std::vector<std::string> keys;
  const Json& value = as_json(node_);
  if (value.is_object()) {
    for (auto item = value.begin(); item != value.end(); ++item) {
      keys.push_back(item.key());
    }
  }
  return keys;
}

std::size_t JsonValue::size() const {
  const Json& value = as_json(node_);
  return value.is_structured() ? value.size() : 0;
}

std::vector<JsonValue> JsonValue::elements() const {
  std::vector<JsonValue> elements;
  const Json& value = as_json(node_);
  if (value.is_array()) {
    elements.reserve(value.size());
    for (const Json& element : value) {
      elements.push_back(
          JsonValue(document_, &element, fmt::format("{}[{}]", path_, elements.size())));
    }
  }
  return elements;
}

Result<std::int64_t> JsonValue::integer(std::int64_t least, std::int64_t most) const {
  const Json& value = as_json(node_);
  const std::string allowed = fmt::format("an integer from {} to {}", least, most);
  const auto refused = [&] {
    return invalid(fmt::format("is {}", shown(*this)), where(), allowed);
  };
  std::int64_t number = 0;
  if (value.is_number_unsigned()) {
    if (value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
      return refused();
    }
    number = value.get<std::int64_t>();
  } else if (value.is_number_integer()) {
    number = value.get<std::int64_t>();
  } else if (value.is_number_float()) {
    const double real = value.get<double>();
    if (!(std::abs(real) < kTwoTo63) || std::trunc(real) != real) {
      return refused();
    }
    number = static_cast<std::int64_t>(real);
  } else {
    return refused();
  }
  if (number < least || number > most) {
    return refused();
  }
  return number;
}

Result<double> JsonValue::number() const {
  const Json& value = as_json(node_);
  if (!value.is_number()) {
    return invalid(fmt::format("is {}", shown(*this)), where(), "a number");
  }
  return value.get<double>();
}

Result<bool> JsonValue::boolean() const {
  const Json& value = as_json(node_);
  if (!value.is_boolean()) {
    return invalid(fmt::format("is {}", shown(*this)), where(), "true or false");
  }
  return value.get<bool>();
}

Result<std::string> JsonValue::text() const {
  const Json& value = as_json(node_);
  if (!value.is_string()) {
    return invalid(fmt::format("is {}", shown(*this)), where(), "a string");
  }
  return value.get<std::string>();
}

std::string JsonValue::json() const {
  return as_json(node_).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string JsonValue::where() const {
  if (path_.empty()) {
    return document_->where;
  }
  std::size_t offset = 0;
  std::string_view last;
  // The path starts with a line break: the first part is empty, or the elements of a top-level
  // list.
  for (const std::string_view part : split(std::string_view(path_), '\n')) {
    if (part.empty()) {
      continue;
    }
    last = part;
    const std::string_view key = part.substr(0, part.find('['));
    if (offset != std::string_view::npos && !key.empty()) {
      offset = offset_past_key(document_->text, key, offset);
    }
  }
  const std::string name = printable(last);
  if (offset == std::string_view::npos) {
    return fmt::format("{} ({})", document_->where, name);
  }
  return fmt::format("{}:{} ({})", document_->where,
                     line_column(document_->text, offset > 0 ? offset - 1 : 0).line, name);
}

}  // namespace sextant::describe
