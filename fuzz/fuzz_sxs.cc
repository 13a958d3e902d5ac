// .sxs: any payload ends in a Summary that can be written and merged, or an Error.
#include <cstdint>
#include <string>

#include "profile/sxs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string payload(data, data + size);
  (void)sextant::profile::summary_of_sxs(payload, "fuzz.sxs");
  // Behind a header that is right: the sum would keep everything else out.
  const auto summary =
      sextant::profile::summary_of_sxs(sextant::profile::sealed_sxs(payload), "fuzz.sxs");
  if (summary) {
    const auto twice = sextant::metrics::merge(*summary, *summary);
    (void)sextant::metrics::matched_collectives(twice);
    for (const auto& rank : twice.ranks) {
      (void)rank.total();
    }
    (void)sextant::profile::sxs_bytes(twice);
  }
  return 0;
}
