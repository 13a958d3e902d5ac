#include "explain/plan_words.h"

#include <fmt/format.h>

#include "describe/layout/layout_text.h"

namespace sextant::explain {

std::string value_of(const describe::Layout& layout, std::string_view key) {
  for (auto& [name, value] : describe::layout_values(layout)) {
    if (name == key) {
      return std::move(value);
    }
  }
  return {};
}

std::string layout_words(const describe::Layout& layout, describe::Framework framework) {
  std::string text = describe::to_text(layout);
  const auto read = describe::parse_layout(text, framework);
  if (!read) {
    return text;
  }
  const auto wanted = describe::layout_values(layout);
  const auto got = describe::layout_values(read->layout);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].second != got[i].second) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", wanted[i].first, wanted[i].second);
    }
  }
  return text;
}

}  // namespace sextant::explain
