// Words as parts of file names.
#pragma once

#include <string>
#include <string_view>

namespace sextant::explain {

// Lower-case letters, digits and single hyphens.
inline std::string file_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    if (kept || capital) {
      word += capital ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!word.empty() && word.back() != '-') {
      word += '-';
    }
  }
  return word;
}

}  // namespace sextant::explain
