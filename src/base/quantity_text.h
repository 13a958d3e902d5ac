// Quantities as people write them: "989.4 TFLOP/s", "400 Gbit/s", "80 GB". A unit is mandatory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace sextant {

// REQUIRES of the text: a finite number ≥ 0, a space (optional), a unit of the asked dimension.
// The error lists the units of that dimension. `where` goes into the error.
Result<Seconds> parse_seconds(std::string_view text, std::string_view where);
Result<Bytes> parse_bytes(std::string_view text, std::string_view where);
Result<BytesPerSecond> parse_bytes_per_second(std::string_view text, std::string_view where);
Result<FlopsPerSecond> parse_flops_per_second(std::string_view text, std::string_view where);
Result<Hertz> parse_hertz(std::string_view text, std::string_view where);
Result<Watts> parse_watts(std::string_view text, std::string_view where);
Result<DollarsPerSecond> parse_dollars_per_second(std::string_view text, std::string_view where);
// "8 count": an integer ≥ 0 whose unit says that it is one.
Result<std::int64_t> parse_count(std::string_view text, std::string_view where);
// "1.06 ratio": a number without dimension whose unit says so.
Result<double> parse_ratio(std::string_view text, std::string_view where);

// Three or four significant digits and a unit a person would choose.
std::string to_text(Seconds value);
std::string to_text(Bytes value);           // binary units, as memory is spoken of: "79.6 GiB"
std::string to_text(BytesPerSecond value);  // decimal units, as links are: "450 GB/s"
std::string to_text(FlopsPerSecond value);
std::string to_text(Watts value);
std::string to_text(Hertz value);

}  // namespace sextant
