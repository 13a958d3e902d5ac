// The practices as a page: what they say, who says so, what the model says.
#pragma once

#include <span>
#include <string>

#include "kb/practice.h"
#include "kb/practice_check.h"

namespace sextant::kb {

// Markdown. REQUIRES: `checked` is check_all's of the book.
std::string practices_page(const PracticeBook& book, std::span<const Agreement> checked);

}  // namespace sextant::kb
