// How an answer is to be rendered. Meaning is never carried by colour alone.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "describe/words.h"

namespace sextant::explain {

enum class Format { kTable, kJson, kMarkdown, kCsv };
inline constexpr std::array<describe::Word<Format>, 4> kFormatWords{{{Format::kTable, "table"},
                                                                     {Format::kJson, "json"},
                                                                     {Format::kMarkdown, "md"},
                                                                     {Format::kCsv, "csv"}}};

struct Style {
  Format format = Format::kTable;
  bool color = false;
};

// Text with terminal attributes where the style allows them.
std::string bold(std::string_view text, const Style& style);
std::string dim(std::string_view text, const Style& style);
std::string good(std::string_view text, const Style& style);
std::string bad(std::string_view text, const Style& style);

}  // namespace sextant::explain
