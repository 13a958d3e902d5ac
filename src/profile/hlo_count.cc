#include "profile/hlo_count.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::profile {
namespace {

double elements_of(const HloShape& shape) {
  double sum = 0.0;
  for (const HloArray& array : shape) {
    sum += array.elements();
  }
  return sum;
}

double bytes_of_shape(const HloShape& shape) {
  double sum = 0.0;
  for (const HloArray& array : shape) {
    sum += array.bytes();
  }
  return sum;
}

const HloArray* operand_array(const HloComputation& where, const HloInstruction& instruction,
                              std::size_t operand) {
  if (operand >= instruction.operands.size()) {
    return nullptr;
  }
  const HloInstruction* found = where.find(instruction.operands[operand]);
  return found == nullptr || found->shape.empty() ? nullptr : &found->shape.front();
}

bool is_arithmetic(std::string_view opcode) {
  return is_one_of(opcode, {"add",     "subtract", "multiply", "divide",    "maximum",
                            "minimum", "negate",   "abs",      "remainder", "and",
                            "or",      "xor",      "not",      "clamp",     "compare",
                            "select",  "floor",    "ceil",     "sign",      "round-nearest-even"});
}

bool is_elementwise(std::string_view opcode) {
  return is_arithmetic(opcode) || is_one_of(opcode, {"exponential",
                                                     "exponential-minus-one",
                                                     "log",
                                                     "log-plus-one",
                                                     "tanh",
                                                     "rsqrt",
                                                     "sqrt",
                                                     "cbrt",
                                                     "power",
                                                     "logistic",
                                                     "sine",
                                                     "cosine",
                                                     "tan",
                                                     "erf",
                                                     "atan2",
                                                     "convert",
                                                     "bitcast-convert",
                                                     "is-finite",
                                                     "real",
                                                     "imag",
                                                     "shift-left",
                                                     "shift-right-logical",
                                                     "popcnt",
                                                     "shift-right-arithmetic",
                                                     "round-nearest-afz",
                                                     "stochastic-convert"});
}

// 2 · elements of the result · what each sums over.
std::optional<Flops> product_flops(const HloComputation& where, const HloInstruction& instruction) {
  const HloArray* left = operand_array(where, instruction, 0);
  if (left == nullptr || instruction.shape.empty()) {
    return std::nullopt;
  }
  double inner = 1.0;
  for (const std::int64_t dimension : instruction.contracting) {
    if (dimension < 0 || dimension >= static_cast<std::int64_t>(left->dimensions.size())) {
      return std::nullopt;
    }
    inner *= static_cast<double>(left->dimensions[static_cast<std::size_t>(dimension)]);
  }
  return Flops(2.0 * instruction.shape.front().elements() * inner);
}

enum class ConvolutionRole { kForward, kInputGradient, kFilterGradient };

// 2 · elements of the forward result · elements of the kernel for each of its features.
std::optional<Flops> convolution_flops(const HloComputation& where,
                                       const HloInstruction& instruction, ConvolutionRole role) {
  const HloArray* left = operand_array(where, instruction, 0);
  const HloArray* right = operand_array(where, instruction, 1);
  if (left == nullptr || right == nullptr || instruction.shape.empty() ||
      !instruction.convolution) {
    return std::nullopt;
  }
  const HloArray& result = instruction.shape.front();
  const HloArray& kernel = role == ConvolutionRole::kFilterGradient ? result : *right;
  const HloArray& forward = role == ConvolutionRole::kForward         ? result
                            : role == ConvolutionRole::kInputGradient ? *left
                                                                      : *right;
  const std::int64_t at = instruction.convolution->kernel_output;
  if (at < 0 || at >= static_cast<std::int64_t>(kernel.dimensions.size())) {
    return std::nullopt;
  }
  const auto features = static_cast<double>(kernel.dimensions[static_cast<std::size_t>(at)]);
  return features < 1.0
             ? std::nullopt
             : std::optional(Flops(2.0 * forward.elements() * kernel.elements() / features));
}

// Of cuDNN: two products forward, five backward, each 2 · elements of the queries · keys of a row.
// An array of queries is batch, heads and tokens in either order, channels: there are more tokens
// than heads.
std::optional<Flops> attention_flops(const HloComputation& where,
                                     const HloInstruction& instruction) {
  const HloArray* queries = operand_array(where, instruction, 0);
  const HloArray* keys = operand_array(where, instruction, 1);
  if (queries == nullptr || keys == nullptr || keys->dimensions.size() != 4) {
    return std::nullopt;
  }
  const bool is_backward = instruction.target.find("Backward") != std::string::npos;
  const auto tokens = static_cast<double>(std::max(keys->dimensions[1], keys->dimensions[2]));
  const double products = is_backward ? 5.0 : 2.0;
  const double share = instruction.is_causal ? 0.5 : 1.0;
  return Flops(2.0 * products * share * queries->elements() * tokens);
}

std::optional<Flops> custom_call_flops(const HloComputation& where,
                                       const HloInstruction& instruction) {
  const std::string_view target = instruction.target;
  if (target.starts_with("__cublas$")) {
    return instruction.contracting.empty() ? std::nullopt : product_flops(where, instruction);
  }
  if (target.starts_with("__cudnn$fmha")) {
    return attention_flops(where, instruction);
  }
  if (target.starts_with("__cudnn$convBackwardInput")) {
    return convolution_flops(where, instruction, ConvolutionRole::kInputGradient);
  }
  if (target.starts_with("__cudnn$convBackwardFilter")) {
    return convolution_flops(where, instruction, ConvolutionRole::kFilterGradient);
  }
  if (target.starts_with("__cudnn$conv")) {
    return convolution_flops(where, instruction, ConvolutionRole::kForward);
  }
  return std::nullopt;
}

}  // namespace

bool holds_others(std::string_view opcode) {
  return is_one_of(opcode, {"while", "conditional", "call"});
}

bool runs_nothing(std::string_view opcode) {
  return is_one_of(opcode, {"parameter", "constant", "bitcast", "tuple", "get-tuple-element",
                            "after-all", "partition-id", "replica-id", "opt-barrier", "domain"});
}

bool is_library_call(const HloInstruction& instruction) {
  return instruction.opcode == "custom-call" && (instruction.target.starts_with("__cublas$") ||
                                                 instruction.target.starts_with("__cudnn$"));
}

std::optional<Flops> HloCounter::flops(const HloComputation& where,
                                       const HloInstruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (opcode == "dot" || opcode == "ragged-dot") {
    return product_flops(where, instruction);
  }
  if (opcode == "convolution") {
    return convolution_flops(where, instruction, ConvolutionRole::kForward);
  }
  if (opcode == "custom-call") {
    return custom_call_flops(where, instruction);
  }
  if (opcode == "fusion") {
    double sum = 0.0;
    for (const std::int64_t called : instruction.called) {
      sum += computation_flops(called);
    }
    return Flops(sum);
  }
  if (is_arithmetic(opcode)) {
    return Flops(elements_of(instruction.shape));
  }
  if (opcode == "reduce") {
    const HloArray* taken = operand_array(where, instruction, 0);
    return Flops(taken == nullptr ? 0.0 : taken->elements());
  }
  if (opcode == "reduce-window" || opcode == "select-and-scatter") {
    return Flops(elements_of(instruction.shape) * static_cast<double>(instruction.window));
  }
  return Flops(0.0);
}

double HloCounter::computation_flops(std::int64_t computation) {
  // What is entered again while it is counted holds itself, which no program does.
  const auto [known, is_new] = counted_.try_emplace(computation, 0.0);
  if (!is_new) {
    return known->second;
  }
  const auto found = module_.computations.find(computation);
  double sum = 0.0;
  if (found != module_.computations.end()) {
    for (const HloInstruction& instruction : found->second.instructions) {
      sum += flops(found->second, instruction).value_or(Flops(0.0)).base();
    }
  }
  counted_[computation] = sum;
  return sum;
}

// Of a fusion's operand what its instructions take of it.
double HloCounter::parameter_bytes(const HloInstruction& fusion, std::size_t operand,
                                   double whole) {
  const auto called = fusion.called.empty() ? module_.computations.end()
                                            : module_.computations.find(fusion.called.front());
  if (called == module_.computations.end()) {
    return whole;
  }
  // Parameters are numbered in the order of the operands, and come in it.
  const HloInstruction* parameter = nullptr;
  std::size_t number = 0;
  for (const HloInstruction& instruction : called->second.instructions) {
    if (instruction.opcode == "parameter" && number++ == operand) {
      parameter = &instruction;
    }
  }
  double taken = 0.0;
  bool is_used = false;
  for (const HloInstruction& instruction : called->second.instructions) {
    if (parameter == nullptr || std::find(instruction.operands.begin(), instruction.operands.end(),
                                          parameter->id) == instruction.operands.end()) {
      continue;
    }
    is_used = true;
    const bool is_source = instruction.operands.front() == parameter->id;
    if (is_source && is_one_of(instruction.opcode, {"slice", "dynamic-slice", "gather"})) {
      taken += bytes_of_shape(instruction.shape);
    } else {
      return whole;
    }
  }
  return is_used ? std::min(taken, whole) : whole;
}

std::optional<Bytes> HloCounter::bytes(const HloComputation& where,
                                       const HloInstruction& instruction) {
  if (runs_nothing(instruction.opcode) || holds_others(instruction.opcode)) {
    return std::nullopt;
  }
  double sum = is_library_call(instruction) && !instruction.shape.empty()
                   ? instruction.shape.front().bytes()
                   : bytes_of_shape(instruction.shape);
  const bool only_slices = is_one_of(instruction.opcode, {"slice", "dynamic-slice", "gather"});
  for (std::size_t operand = 0; operand < instruction.operands.size(); ++operand) {
    const HloInstruction* read = where.find(instruction.operands[operand]);
    if (read == nullptr) {
      continue;
    }
    const double whole = bytes_of_shape(read->shape);
    if (instruction.opcode == "fusion") {
      sum += parameter_bytes(instruction, operand, whole);
    } else {
      sum += only_slices && operand == 0 ? bytes_of_shape(instruction.shape) : whole;
    }
  }
  return Bytes(sum);
}

std::string hlo_category(const HloInstruction& instruction) {
  if (instruction.opcode == "fusion") {
    const std::string kind = to_lower(instruction.fusion_kind);
    return kind.starts_with("k") && kind.size() > 1 ? fmt::format("{} fusion", kind.substr(1))
                                                    : std::string("fusion");
  }
  if (is_one_of(instruction.opcode,
                {"copy", "transpose", "reshape", "bitcast", "dynamic-reshape"})) {
    return "data formatting";
  }
  return is_elementwise(instruction.opcode) ? std::string("non-fusion elementwise")
                                            : instruction.opcode;
}

}  // namespace sextant::profile
