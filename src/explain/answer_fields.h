// What documents have, as a table: whoever promises their shape (JSON schemas of protocols) takes
// it from here, and real answers are held to it (tests/mcp/clients.mjs).
#pragma once

#include <string_view>
#include <vector>

namespace sextant::explain {

struct AnswerField {
  std::string_view name;
  char type = ' ';  // s text, n number, b true or false, o object, a list; ' ': more than one
  std::vector<std::string_view> members = {};  // of the object, or of a list's objects
};

// Of "tune", "estimate-sweep"; none where there is no such document.
std::vector<AnswerField> answer_fields(std::string_view document);

}  // namespace sextant::explain
