// The lists that PyTorch's profiler records of an operator's inputs, one entry for each.
#pragma once

#include <string_view>
#include <vector>

namespace sextant::profile {

using TensorShape = std::vector<double>;  // empty: a scalar, nothing, or a list of tensors

// "[[4, 2048], [], [[2], [3]]]": the shapes of three inputs.
std::vector<TensorShape> tensor_shapes(std::string_view text);

// The strings of "["float", "", "TensorList"]".
std::vector<std::string_view> listed_words(std::string_view text);

}  // namespace sextant::profile
