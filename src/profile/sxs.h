// .sxs: a metrics::Summary as bytes, so that ranks are summarised where they lie and joined on one
// machine.
//
// "SXSUM", a byte of version (2), "\r\n"; then the payload's length as 8 bytes and its FNV-1a sum
// as 8 bytes, least first; then the payload: numbers as LEB128 of 7 bits a byte (signed ones
// folded: 0, -1, 1, -2 …), text as its length and its bytes, what may be absent behind a byte 0 or
// 1, lists behind their length, fields in the order of sxs_fields.h. Another version is refused by
// name.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "metrics/summary.h"

namespace sextant::profile {

inline constexpr std::string_view kSxsMagic = "SXSUM";

std::string sxs_bytes(const metrics::Summary& summary);
// A header before a payload of any kind: for tests and fuzzing.
std::string sealed_sxs(std::string_view payload);

// An Error where the bytes are no .sxs, are damaged, or say what no profile can: times or counts
// past 2^53, moments past 2^62, ends before starts, ranks out of order. Takes at most some fifteen
// times the bytes in memory. `where` is the file's name, for the Error.
Result<metrics::Summary> summary_of_sxs(std::string_view bytes, const std::string& where);

}  // namespace sextant::profile
