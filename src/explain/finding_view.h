// Findings of a diagnosis as people read them: worst first, what each costs, why, whose doing it
// is, and what to do first.
#pragma once

#include <string>

#include "explain/diagnose_view.h"

namespace sextant::explain {

inline constexpr std::size_t kTextWidth = 100;  // of a line, for people

// Broken between words into lines of at most `width` letters, each after `indent`; a word that is
// longer stands alone.
std::string in_lines(std::string_view text, std::string_view indent,
                     std::size_t width = kTextWidth);

// Shortened, for a first screen: at most some fifteen lines. Or, verbose, with all evidence,
// advice, sources, and what was not asked.
std::string findings_text(const DiagnoseAnswer& answer, const FindingsAnswer& findings,
                          const Style& style);

}  // namespace sextant::explain
