// The pages of the rule book, a part a file. rule_book.cc binds them.
#pragma once

#include <span>
#include <string_view>

#include "describe/layout/rules.h"

namespace sextant::describe {

inline constexpr std::string_view kMegatronOwner = "megatron-core";

std::span<const Rule> core_rules();
std::span<const Rule> device_rules();
std::span<const Rule> megatron_rules();          // about the layout
std::span<const Rule> megatron_setting_rules();  // about switches, files and the environment
std::span<const Rule> torchtitan_rules();
std::span<const Rule> other_framework_rules();  // DeepSpeed, MaxText, Accelerate, nanotron

}  // namespace sextant::describe
