// What people say, and what entries call it: "out of memory" is the bottleneck hbm, "bubble" a
// pipeline's stall. A question's words become features that it did not state, and further words to
// look for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kb/entry.h"

namespace sextant::kb {

struct Understood {
  Features about;                   // what the words are about
  std::vector<std::string> words;   // the question's own, lower case
  std::vector<std::string> others;  // that mean the same
};
// At most 64 words of the question are read.
Understood understood(std::string_view words);

}  // namespace sextant::kb
