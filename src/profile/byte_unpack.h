// How packed bytes are told and unpacked, a piece at a time; byte_source.cc puts it together.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "profile/byte_source.h"

namespace sextant::profile {

enum class Packing : std::uint8_t { kNone, kGzip, kZstd };
inline constexpr std::size_t kLongestMagic = 4;
// By the first bytes. Source: RFC 1952, 2.3.1; RFC 8878, 3.1.1 and 3.1.2 (a file may begin with a
// frame to be skipped).
Packing packing_of(std::string_view head);

// All members of a gzip file; bytes after the last that are none are left out, as gzip does, and
// said.
std::unique_ptr<ByteSource> gunzipped(std::unique_ptr<ByteSource> packed);
// All frames of a zstd file. A frame that asks for a window of more than 128 MiB is refused, as
// zstd itself does unless asked.
std::unique_ptr<ByteSource> unzstded(std::unique_ptr<ByteSource> packed);

}  // namespace sextant::profile
