// What an XLA instruction does, to what, and in which pass of training: its opcode and those of the
// instructions fused into it, the shapes of its operands and results, and the name that JAX gave
// it.
#pragma once

#include <string_view>

#include "profile/hlo_module.h"
#include "profile/kernel_meaning.h"
#include "timeline/label.h"

namespace sextant::profile {

// `kernel`: what the name of the kernel says that ran it.
timeline::OperatorCall hlo_call(const HloModule& module, const HloComputation& where,
                                const HloInstruction& instruction, const KernelMeaning& kernel);

// What is added to the category of an all-gather whose result is only sliced.
inline constexpr std::string_view kCutCategory = ", then slice";
// Whether an all-gather's result is only sliced: what was gathered from all ranks is cut again.
bool is_gathered_and_cut(const HloComputation& where, const HloInstruction& instruction);

}  // namespace sextant::profile
