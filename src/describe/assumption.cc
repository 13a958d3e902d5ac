#include "describe/assumption.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::describe {

std::string to_text(const Assumption& assumption) {
  // A value of several words reads as a sentence.
  const bool words = assumption.value.find(' ') != std::string::npos;
  std::string text = fmt::format("{}{}{}", assumption.key, words ? ": " : "=", assumption.value);
  return assumption.why.empty() ? text : fmt::format("{} ({})", text, assumption.why);
}

std::string to_text(const Assumptions& assumptions) {
  std::vector<std::string> texts;
  for (const Assumption& one : assumptions) {
    texts.push_back(to_text(one));
  }
  return join(texts, "; ");
}

void add_once(const Assumptions& from, Assumptions& into) {
  for (const Assumption& one : from) {
    if (std::find(into.begin(), into.end(), one) == into.end()) {
      into.push_back(one);
    }
  }
}

}  // namespace sextant::describe
