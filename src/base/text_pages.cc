#include "base/text_pages.h"

#include <algorithm>

namespace sextant {

std::string_view beginning(std::string_view text, std::size_t most) {
  constexpr std::size_t kLongestCharacter = 4;
  const auto is_within = [text](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  const std::size_t end = std::min(most, text.size());
  for (std::size_t back = 0; back < std::min(kLongestCharacter, end); ++back) {
    if (!is_within(end - back)) {
      return text.substr(0, end - back);
    }
  }
  return text.substr(0, end);
}

TextPage page_of(std::string_view text, std::size_t page, std::size_t most) {
  TextPage found;
  std::size_t number = 0;
  while (!text.empty()) {
    std::string_view one = beginning(text, most);
    if (one.size() < text.size()) {
      const std::size_t end = one.rfind('\n');
      one = end == std::string_view::npos ? one : one.substr(0, end + 1);
    }
    ++number;
    if (number == page) {
      found.text = one;
    }
    text.remove_prefix(one.size());
  }
  found.of = std::max<std::size_t>(number, 1);
  return found;
}

}  // namespace sextant
