// Layouts as users write them: "tp=8,pp=4,vpp=5,mbs=1,recompute=selective:core_attn".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "describe/assumption.h"
#include "describe/layout/layout.h"

namespace sextant::describe {

struct LayoutKey {
  std::string_view name;
  std::string_view values;  // what may follow '=', for help and errors
  std::string_view meaning;
};
// Every key, in the order layouts are printed.
std::span<const LayoutKey> layout_keys();

struct LayoutReading {
  Layout layout;
  std::vector<std::string> given;  // keys of the text
  Assumptions defaulted;           // sp=1: Megatron-Bridge recipes' default
};

// Unset keys take the framework's default; each is listed. An unknown key or a value outside its
// set is an Error with the nearest words.
Result<LayoutReading> parse_layout(std::string_view text, Framework framework);

// The keys of the text over a layout; nothing else changes. Says which keys there were.
Result<std::vector<std::string>> set_keys(std::string_view text, Layout& layout);

// The layout as text that parse_layout reads back to the same value: keys that differ from
// Layout{}.
std::string to_text(const Layout& layout);

// Every key with its value as text, in the order layouts are printed.
std::vector<std::pair<std::string_view, std::string>> layout_values(const Layout& layout);

}  // namespace sextant::describe
