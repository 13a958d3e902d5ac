// The JSON side of llm/: included by its .cc files only. What comes from a server is hostile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace sextant::llm {

using Json = nlohmann::ordered_json;

// An object, nested at most 64 deep and of at most 20,000 members in all; an Error otherwise, at
// `where`.
Result<Json> parsed_object(std::string_view text, std::string_view where);
// Bytes that are no UTF-8 are replaced.
std::string dumped(const Json& json);

// The member where this is an object that has it and it is not null; else a null.
const Json& member(const Json& json, std::string_view key);
// "" where it is no text.
std::string text_of(const Json& json, std::string_view key);
// 0 where it is no number that counts something.
std::int64_t count_of(const Json& json, std::string_view key);
// A schema of ours as JSON; {} where it is none.
Json schema_of(const std::string& text);

// What a server says went wrong, from {"error": {"message": …}} and its like; "" where it says
// nothing.
std::string error_message(const Json& json);

}  // namespace sextant::llm
