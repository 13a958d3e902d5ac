#include "emit/shell_read_fields.h"

#include <algorithm>
#include <iterator>

namespace sextant::emit {
namespace {

constexpr std::string_view kIfsBlanks = " \t\n";

// Where the field at `at` ends, and where the next one begins: one separator ends it, and blanks
// that are separators count for nothing beside it.
struct FieldEnd {
  std::size_t end = 0;
  std::size_t next = 0;
};

FieldEnd field_end(std::string_view text, std::string_view separators, std::string_view blanks,
                   std::size_t at) {
  FieldEnd found;
  found.end = std::min(text.find_first_of(separators, at), text.size());
  found.next = std::min(text.find_first_not_of(blanks, found.end), text.size());
  if (found.next < text.size() && separators.find(text[found.next]) != std::string_view::npos) {
    found.next = std::min(text.find_first_not_of(blanks, found.next + 1), text.size());
  }
  return found;
}

}  // namespace

std::vector<std::string> read_fields(std::string_view line, std::string_view separators,
                                     std::size_t most) {
  std::string blanks;
  std::ranges::copy_if(separators, std::back_inserter(blanks),
                       [](char c) { return kIfsBlanks.find(c) != std::string_view::npos; });
  const std::string_view head = line.substr(0, line.find_last_not_of(blanks) + 1);
  const std::string_view text = head.substr(std::min(head.find_first_not_of(blanks), head.size()));
  std::vector<std::string> fields;
  std::size_t at = 0;
  while (at < text.size()) {
    const FieldEnd found = field_end(text, separators, blanks, at);
    const bool rest = fields.size() + 1 == most && found.next < text.size();
    fields.emplace_back(text.substr(at, rest ? std::string_view::npos : found.end - at));
    at = rest ? text.size() : found.next;
  }
  return fields;
}

}  // namespace sextant::emit
