#include "describe/layout/layout_words.h"

#include <fmt/format.h>

#include "describe/layout/framework_defaults.h"
#include "describe/layout/layout_text.h"

namespace sextant::describe {

std::string value_of(const Layout& layout, std::string_view key) {
  for (auto& [name, value] : layout_values(layout)) {
    if (name == key) {
      return std::move(value);
    }
  }
  return {};
}

std::string layout_words(const Layout& layout, Framework framework, const Device& device) {
  std::string text = to_text(layout);
  auto read = parse_layout(text, framework);
  if (!read) {
    return text;
  }
  fill_device_defaults(read->layout, read->given, device);
  const auto wanted = layout_values(layout);
  const auto got = layout_values(read->layout);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].second != got[i].second) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", wanted[i].first, wanted[i].second);
    }
  }
  return text;
}

}  // namespace sextant::describe
