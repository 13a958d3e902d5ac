#include "front/mcp/json.h"

namespace sextant::front::mcp {

std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string text_of(const Json& object, std::string_view key) {
  if (!object.is_object()) {
    return {};
  }
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const Json& object_of(const Json& object, std::string_view key) {
  static const Json kNone = Json::object();
  if (!object.is_object()) {
    return kNone;
  }
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : kNone;
}

}  // namespace sextant::front::mcp
