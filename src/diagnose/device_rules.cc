#include "diagnose/device_rules.h"

#include <algorithm>
#include <iterator>

namespace sextant::diagnose {

Findings device_findings(const Scene& scene) {
  Findings all;
  for (Findings family : {attention_findings(scene), product_findings(scene), pass_findings(scene),
                          stream_findings(scene)}) {
    std::ranges::move(family.found, std::back_inserter(all.found));
    std::ranges::move(family.abstained, std::back_inserter(all.abstained));
  }
  return all;
}

}  // namespace sextant::diagnose
