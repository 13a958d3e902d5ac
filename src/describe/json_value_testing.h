// Members of JSON documents, for the tests of this folder.
#pragma once

#include <string_view>

#include "describe/json_value.h"

namespace sextant::describe {

// The member, or the value itself where it has none: then the test reads the wrong kind and fails.
inline JsonValue at(const JsonValue& value, std::string_view key) {
  return value.member(key).value_or(value);
}

}  // namespace sextant::describe
