// Kinds of characters that bash tells apart.
#pragma once

#include "base/text.h"

namespace sextant::emit {

constexpr bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_name_character(char c) {
  return is_name_start(c) || is_digit(c);
}
constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

}  // namespace sextant::emit
