// A text in pages, for whoever can take only so much of it at once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sextant {

// The first bytes of a text, none of its characters broken. Never none of them: bytes that are no
// UTF-8 are cut anywhere.
std::string_view beginning(std::string_view text, std::size_t most);

// A page of a text, cut at the end of a line where there is one; pages are counted from 1.
struct TextPage {
  std::string text;
  std::size_t of = 1;  // pages there are
};
// REQUIRES: page ≥ 1. A page that is not there is empty.
TextPage page_of(std::string_view text, std::size_t page, std::size_t most);

}  // namespace sextant
