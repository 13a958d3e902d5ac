#include "profile/tensor_words.h"

#include "base/text.h"

namespace sextant::profile {

std::vector<TensorShape> tensor_shapes(std::string_view text) {
  std::vector<TensorShape> shapes;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '[') {
      depth += 1;
      if (depth == 2) {
        shapes.emplace_back();
      }
    } else if (c == ']') {
      depth -= 1;
    } else if (is_digit(c) && depth >= 2) {
      double number = 0.0;
      for (; at < text.size() && is_digit(text[at]); ++at) {
        number = number * 10.0 + (text[at] - '0');
      }
      at -= 1;
      if (depth == 2) {
        shapes.back().push_back(number);
      }
    }
  }
  return shapes;
}

std::vector<std::string_view> listed_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t at = text.find('"');
  while (at != std::string_view::npos) {
    const std::size_t end = text.find('"', at + 1);
    if (end == std::string_view::npos) {
      break;
    }
    words.push_back(text.substr(at + 1, end - at - 1));
    at = text.find('"', end + 1);
  }
  return words;
}

}  // namespace sextant::profile
