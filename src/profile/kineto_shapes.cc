#include "profile/kineto_shapes.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "profile/recognition.h"
#include "profile/tensor_words.h"

namespace sextant::profile {
namespace {

using timeline::Tensor;

// Beyond that a dimension is none.
constexpr double kLargestDim = 0x1p50;

// "[[4, 2048], [], [[2, 3], [2]]]": the shapes of each place; a list of tensors has several.
std::vector<std::vector<std::vector<std::int64_t>>> shapes_by_place(std::string_view text) {
  std::vector<std::vector<std::vector<std::int64_t>>> places;
  std::vector<std::int64_t> dims;
  int depth = 0;
  for (std::size_t at = 0; at < text.size() && places.size() <= kMostInputs; ++at) {
    const char c = text[at];
    if (c == '[') {
      depth += 1;
      if (depth == 2) {
        places.emplace_back();
      }
      dims.clear();
    } else if (c == ']') {
      if (depth >= 2 && !dims.empty() && !places.empty() && places.back().size() < kMostInputs &&
          dims.size() <= kMostDims) {
        places.back().push_back(dims);
      }
      dims.clear();
      depth -= 1;
    } else if (is_digit(c) && depth >= 2) {
      double number = 0.0;
      for (; at < text.size() && is_digit(text[at]); ++at) {
        number = std::min(number * 10.0 + (text[at] - '0'), kLargestDim);
      }
      at -= 1;
      dims.push_back(static_cast<std::int64_t>(number));
    }
  }
  return places;
}

}  // namespace

KinetoInputs kineto_inputs(const KinetoArguments& arguments) {
  KinetoInputs inputs;
  const auto places = shapes_by_place(arguments.input_dims.text);
  const std::vector<std::string_view> types = listed_words(arguments.input_types.text);
  // Lists do not say the format of their tensors: that of the tensors beside them, if of all.
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::string_view type = i < types.size() ? types[i] : std::string_view();
    for (const std::vector<std::int64_t>& dims : places[i]) {
      inputs.tensors.push_back({dims, element_of_torch_word(type)});
      inputs.by_place.resize(std::max(inputs.by_place.size(), i));
      inputs.by_place.emplace_back(inputs.tensors.back());
    }
    if (places[i].empty()) {
      inputs.by_place.resize(std::max(inputs.by_place.size(), i + 1));
    }
  }
  if (inputs.tensors.size() > kMostInputs) {
    inputs.tensors.resize(kMostInputs);
  }
  return inputs;
}

std::optional<bool> mask_argument(const KinetoArguments& arguments, std::size_t place) {
  const std::vector<std::string_view> values = listed_words(arguments.input_values.text);
  if (place >= values.size()) {
    return std::nullopt;
  }
  if (values[place] == "True" || values[place] == "False") {
    return values[place] == "True";
  }
  const auto kind = to_integer(values[place]);
  return kind ? std::optional(*kind != 0) : std::nullopt;
}

}  // namespace sextant::profile
