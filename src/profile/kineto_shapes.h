// The inputs of an operator as PyTorch's profiler records them with record_shapes=True: "Input
// Dims", "Input type", and the numbers and words of "Concrete Inputs".
#pragma once

#include <optional>
#include <vector>

#include "profile/kineto_arguments.h"
#include "timeline/label.h"

namespace sextant::profile {

// At most so many of an operator, and so many dimensions of one; others are left out.
inline constexpr std::size_t kMostInputs = 32;
inline constexpr std::size_t kMostDims = 16;

struct KinetoInputs {
  std::vector<timeline::Tensor> tensors;  // those of a list one by one
  // By place in the call; nothing where there is no tensor. Of a list, a tensor stands in the next
  // places each, since no rule asks what comes behind one.
  std::vector<std::optional<timeline::Tensor>> by_place;
};
KinetoInputs kineto_inputs(const KinetoArguments& arguments);

// Argument `place` of those that are no tensors, as a yes or no: True, or a kind of mask other than
// 0; nothing where it is neither.
std::optional<bool> mask_argument(const KinetoArguments& arguments, std::size_t place);

}  // namespace sextant::profile
