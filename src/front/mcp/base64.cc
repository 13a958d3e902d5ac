#include "front/mcp/base64.h"

#include <cstdint>

namespace sextant::front::mcp {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits <<= 8U;
      bits |= at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U;
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += at + i > bytes.size() ? '=' : kDigits[(bits >> (18U - 6U * i)) & 63U];
    }
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  const std::size_t padding = text.ends_with("==") ? 2U : text.ends_with('=') ? 1U : 0U;
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += 4) {
    const std::size_t missing = at + 4 == text.size() ? padding : 0U;
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t digit = i < 4 - missing ? kDigits.find(text[at + i]) : 0U;
      if (digit == std::string_view::npos) {
        return std::nullopt;
      }
      bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    }
    if ((bits & ((1U << (8U * missing)) - 1U)) != 0) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < 3 - missing; ++i) {
      bytes += static_cast<char>((bits >> (16U - 8U * i)) & 255U);
    }
  }
  return bytes;
}

}  // namespace sextant::front::mcp
