#include "profile/hlo_call.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace sextant::profile {
namespace {

using timeline::CallPass;
using timeline::OperatorUse;
using timeline::Tensor;

constexpr std::size_t kMostTensors = 8;

void add_arrays(const HloShape& shape, std::vector<Tensor>& into) {
  for (const HloArray& array : shape) {
    if (into.size() < kMostTensors && bits_of(array.type) > 0) {
      into.push_back({array.dimensions, element_of(array.type)});
    }
  }
}

bool is_any(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// Whether it changes the order of elements and nothing else.
bool keeps_elements(std::string_view opcode) {
  return is_any(opcode, {"parameter", "copy", "transpose", "bitcast", "reshape", "tuple",
                         "get-tuple-element"});
}

bool is_relayout_fusion(const HloModule& module, const HloInstruction& instruction) {
  bool moves = false;
  for (const std::int64_t id : instruction.called) {
    const auto computation = module.computations.find(id);
    if (computation == module.computations.end()) {
      return false;
    }
    for (const HloInstruction& one : computation->second.instructions) {
      if (!keeps_elements(one.opcode)) {
        return false;
      }
      moves |= is_any(one.opcode, {"copy", "transpose"});
    }
  }
  return moves;
}

bool multiplies(const HloModule& module, const HloInstruction& instruction) {
  return std::ranges::any_of(instruction.called, [&](std::int64_t id) {
    const auto computation = module.computations.find(id);
    return computation != module.computations.end() &&
           std::ranges::any_of(computation->second.instructions, [](const HloInstruction& one) {
             return is_any(one.opcode, {"dot", "ragged-dot"});
           });
  });
}

// Source: XLA's targets (xla/service/gpu/cublas_cudnn.h): "__cublas$gemm", "__cublas$lt$matmul",
// "__cudnn$fmhaSoftmax", "__cudnn$convForward".
std::optional<OperatorUse> use_of_call(std::string_view target) {
  const auto holds = [&](std::string_view word) {
    return target.find(word) != std::string_view::npos;
  };
  if (holds("fmha") || holds("attention")) {
    return OperatorUse::kAttention;
  }
  if (holds("gemm") || holds("matmul")) {
    return OperatorUse::kProduct;
  }
  return holds("$conv") ? std::optional(OperatorUse::kConvolution) : std::nullopt;
}

std::optional<OperatorUse> use_of_instruction(const HloModule& module,
                                              const HloInstruction& instruction) {
  const std::string& opcode = instruction.opcode;
  if (is_any(opcode, {"dot", "ragged-dot"})) {
    return OperatorUse::kProduct;
  }
  if (opcode == "convolution") {
    return OperatorUse::kConvolution;
  }
  if (opcode == "custom-call") {
    return use_of_call(instruction.target);
  }
  if (is_any(opcode, {"copy", "transpose"})) {
    return OperatorUse::kCopy;
  }
  if (opcode == "reduce") {
    return OperatorUse::kReduction;
  }
  if (opcode != "fusion") {
    return is_any(opcode, {"gather", "scatter", "sort", "while", "conditional", "rng"})
               ? std::nullopt
               : std::optional(OperatorUse::kElementwise);
  }
  if (multiplies(module, instruction)) {
    return OperatorUse::kProduct;
  }
  return is_relayout_fusion(module, instruction) ? OperatorUse::kCopy : OperatorUse::kElementwise;
}

// JAX writes what it made an instruction of: "jit(step)/transpose(jvp(loss))/dot_general" is of the
// backward pass, "rematted_computation" of what checkpoint runs again. Source: jax,
// jax/_src/interpreters/ad.py and jax/_src/ad_checkpoint.py.
std::optional<CallPass> pass_of_name(std::string_view name) {
  if (name.empty()) {
    return std::nullopt;
  }
  if (name.find("rematted_computation") != std::string_view::npos) {
    return CallPass::kAgain;
  }
  return name.find("transpose(jvp") != std::string_view::npos ||
                 name.find("transpose(") != std::string_view::npos
             ? CallPass::kBackward
             : CallPass::kForward;
}

// What uses an instruction's result.
std::vector<const HloInstruction*> users_of(const HloComputation& where, std::int64_t id) {
  std::vector<const HloInstruction*> users;
  for (const HloInstruction& one : where.instructions) {
    if (std::ranges::find(one.operands, id) != one.operands.end()) {
      users.push_back(&one);
    }
  }
  return users;
}

// Steps through what hands an array on as it is.
bool is_only_cut(const HloComputation& where, std::int64_t id, int steps) {
  const std::vector<const HloInstruction*> users = users_of(where, id);
  return steps > 0 && !users.empty() && std::ranges::all_of(users, [&](const HloInstruction* user) {
           if (is_any(user->opcode, {"slice", "dynamic-slice"})) {
             return true;
           }
           return is_any(user->opcode, {"all-gather-done", "bitcast", "get-tuple-element"}) &&
                  is_only_cut(where, user->id, steps - 1);
         });
}

}  // namespace

bool is_gathered_and_cut(const HloComputation& where, const HloInstruction& instruction) {
  constexpr int kMostSteps = 4;
  return is_any(instruction.opcode, {"all-gather", "all-gather-start"}) &&
         is_only_cut(where, instruction.id, kMostSteps);
}

timeline::OperatorCall hlo_call(const HloModule& module, const HloComputation& where,
                                const HloInstruction& instruction, const KernelMeaning& kernel) {
  timeline::OperatorCall call{.use = use_of_instruction(module, instruction),
                              .unit = kernel.unit,
                              .pass = pass_of_name(instruction.op_name)};
  for (const std::int64_t id : instruction.operands) {
    const HloInstruction* operand = where.find(id);
    if (operand != nullptr) {
      add_arrays(operand->shape, call.inputs);
    }
  }
  add_arrays(instruction.shape, call.outputs);
  return call;
}

}  // namespace sextant::profile
