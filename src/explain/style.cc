#include "explain/style.h"

namespace sextant::explain {
namespace {

std::string wrapped(std::string_view text, std::string_view code, const Style& style) {
  if (!style.color) {
    return std::string(text);
  }
  // ECMA-48 "select graphic rendition".
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace

Result<Format> parse_format(std::string_view word) {
  return describe::parse_word<Format>(kFormatWords, word, "format", {});
}

std::string bold(std::string_view text, const Style& style) {
  return wrapped(text, "1", style);
}
std::string dim(std::string_view text, const Style& style) {
  return wrapped(text, "2", style);
}
std::string good(std::string_view text, const Style& style) {
  return wrapped(text, "32", style);
}
std::string bad(std::string_view text, const Style& style) {
  return wrapped(text, "31", style);
}

}  // namespace sextant::explain
