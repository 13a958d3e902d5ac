// SHA-256 of a text, in hex: how outputs name the inputs they were made from (checkable with
// sha256sum).
#pragma once

#include <string>
#include <string_view>

namespace sextant {

std::string sha256_hex(std::string_view data);

}  // namespace sextant
