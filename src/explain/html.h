// HTML of reports: names come from profiles and may be anything, so every text goes through
// html_text() before it is put into a page, also into an attribute in double quotes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "explain/text_table.h"

namespace sextant::explain {

// Escaped; control characters and bytes that are no UTF-8 as \xNN.
std::string html_text(std::string_view text);

// <section> with a heading, or "" where the content is empty.
std::string html_section(std::string_view title, std::string_view content);
// A table that scrolls by itself where it is too wide; "" of one without rows.
std::string html_table(const Table& table, std::string_view caption = {});

// A piece of a bar; pieces add up to at most 1.
struct BarPiece {
  std::string name;  // said where one points at it
  double share = 0.0;
  std::string_view color_class;  // of the page's style: "compute", "idle"
};
// An SVG as wide as what it lies in. `label` is said to those who do not see it.
std::string html_bar(const std::vector<BarPiece>& pieces, std::string_view label);

// A whole document with its style. It asks for nothing: no script, no other file, and its policy
// forbids both.
std::string html_page(std::string_view title, std::string_view body);

// "data:application/json;base64,…"
std::string data_link(std::string_view bytes);

}  // namespace sextant::explain
