#include "explain/shown_text.h"

#include "base/text.h"

namespace sextant::explain {
namespace {

// Letters that a terminal obeys or that turn a line around, in UTF-8: U+0080 to U+009F, U+200B to
// U+200F, U+2028 to U+202E, U+2066 to U+2069.
bool is_commanding(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const unsigned last = byte(2);
  return (byte(0) == 0xC2 && byte(1) < 0xA0) ||
         (byte(0) == 0xE2 && byte(1) == 0x80 &&
          ((last >= 0x8B && last <= 0x8F) || (last >= 0xA8 && last <= 0xAE))) ||
         (byte(0) == 0xE2 && byte(1) == 0x81 && last >= 0xA6 && last <= 0xA9);
}

}  // namespace

std::string shown_text(std::string_view text, std::size_t limit, const Style& style) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_commanding(text, at)) {
      plain += "?";
      at += text[at] == '\xC2' ? std::size_t{1} : std::size_t{2};
    } else if (text[at] == '<' && style.format == Format::kMarkdown) {
      plain += "&lt;";
    } else {
      plain += text[at];
    }
  }
  return printable(plain, limit);
}

}  // namespace sextant::explain
