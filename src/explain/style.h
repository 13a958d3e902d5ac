// How an answer is to be rendered. Meaning is never carried by colour alone.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "describe/words.h"

namespace sextant::explain {

// kGithub and kSarif: findings of a check, for CI.
enum class Format { kTable, kJson, kMarkdown, kCsv, kGithub, kSarif };
inline constexpr std::array<describe::Word<Format>, 6> kFormatWords{{{Format::kTable, "table"},
                                                                     {Format::kJson, "json"},
                                                                     {Format::kMarkdown, "md"},
                                                                     {Format::kCsv, "csv"},
                                                                     {Format::kGithub, "github"},
                                                                     {Format::kSarif, "sarif"}}};
// An Error for any other word.
Result<Format> parse_format(std::string_view word);
// Only answers that are findings have the form.
constexpr bool is_for_findings(Format format) {
  return format == Format::kGithub || format == Format::kSarif;
}

struct Style {
  Format format = Format::kTable;
  bool color = false;
  std::size_t width = 0;  // of a terminal; 0: none looks on, or its width is not known
};

inline constexpr Style kMarkdown{Format::kMarkdown, false, 0};

// Text with terminal attributes where the style allows them.
std::string bold(std::string_view text, const Style& style);
std::string dim(std::string_view text, const Style& style);
std::string good(std::string_view text, const Style& style);
std::string bad(std::string_view text, const Style& style);

}  // namespace sextant::explain
