// What a drawing says, for the tests of this folder.
#pragma once

#include <algorithm>
#include <string>

#include "explain/drawing.h"

namespace sextant::explain {

inline bool has_label(const Drawing& drawing, const std::string& text) {
  return std::any_of(drawing.labels.begin(), drawing.labels.end(),
                     [&text](const Label& label) { return label.text == text; });
}

}  // namespace sextant::explain
