// FLOPs and bytes of PyTorch's operators, counted from the shapes of their inputs, where the
// profile recorded them (record_shapes=True).
//
// Products: 2 · M · N · K for each of a batch. Attention: two products forward, five backward (it
// computes the first again), half of each where the mask is causal. Bytes are operands and results
// once. Counted are the operators that launch kernels, not those that only call one of them
// (aten::linear, aten::matmul): nothing is counted twice. All others are unknown, among them
// convolutions, and attention over packed sequences, whose lengths are no shapes.
#pragma once

#include <optional>
#include <string_view>

#include "base/units.h"
#include "profile/kineto_arguments.h"

namespace sextant::profile {

struct TorchCount {
  Flops flops;
  Bytes bytes;
};

// Whether operators of the name are counted at all.
bool is_counted_operator(std::string_view name);

// What one occurrence does; nothing where shapes or types are not recorded, or are none that the
// operator takes.
std::optional<TorchCount> torch_count(std::string_view name, const KinetoArguments& arguments);

// The part of the recorded values that the count depends on: whether the mask is causal.
std::string_view counted_value(std::string_view name, const KinetoArguments& arguments);

}  // namespace sextant::profile
