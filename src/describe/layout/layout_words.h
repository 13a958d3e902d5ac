// A layout in as few words as bring it back.
#pragma once

#include <string>
#include <string_view>

#include "describe/cluster/device.h"
#include "describe/layout/layout.h"

namespace sextant::describe {

// What set_layout reads back to the same value under the defaults of framework and device: to_text,
// and the keys that those defaults would set otherwise.
std::string layout_words(const Layout& layout, Framework framework, const Device& device);

// The value of one key, as layouts write it; "" where there is no such key.
std::string value_of(const Layout& layout, std::string_view key);

}  // namespace sextant::describe
