// Floating-point operations and bytes of XLA's instructions, counted from their shapes: what a
// profile without the compiler's own counts lacks.
//
// FLOPs: 2·M·N·K of a dot, a matrix product of cuBLAS and a convolution (padding counted as if it
// were data); attention of cuDNN by its matrices, half of them where the mask is causal; one for
// each element of arithmetic and for each that a reduction takes in. Exponentials and their like
// count as none, as in XLA's own analysis; a fusion is its instructions. Nothing where a custom
// call is one that we don't know: that is not zero.
//
// Bytes: what an instruction reads and writes once, of a fusion its operands and results; of an
// operand that is only sliced or gathered from, what comes of that; of a matrix product without the
// workspace. Caches make the real traffic more or less.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/units.h"
#include "profile/hlo_module.h"

namespace sextant::profile {

class HloCounter {
 public:
  // The module must outlive it.
  explicit HloCounter(const HloModule& module) : module_(module) {}

  std::optional<Flops> flops(const HloComputation& where, const HloInstruction& instruction);
  std::optional<Bytes> bytes(const HloComputation& where, const HloInstruction& instruction);

 private:
  // Known or not, of a computation that is called; a loop of calls counts as nothing.
  double computation_flops(std::int64_t computation);
  double parameter_bytes(const HloInstruction& fusion, std::size_t operand, double whole);

  const HloModule& module_;
  std::unordered_map<std::int64_t, double> counted_;
};

// What xprof groups by: "loop fusion", "data formatting", "non-fusion elementwise", else the
// opcode. Source: XLA, HloInstruction::ToCategory.
std::string hlo_category(const HloInstruction& instruction);

// It holds others (while, conditional, call): its time is theirs.
bool holds_others(std::string_view opcode);
// It runs nothing: a bitcast, a parameter, a tuple.
bool runs_nothing(std::string_view opcode);
// A product of matrices, a convolution or attention by a library.
bool is_library_call(const HloInstruction& instruction);

}  // namespace sextant::profile
