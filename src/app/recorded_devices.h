// The device that a profile names, in the catalogue.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "describe/assumption.h"
#include "describe/cluster/device.h"

namespace sextant::app {

struct KnownDevices {
  std::vector<std::optional<describe::Device>> of_rank;  // as the names given; nothing: unknown
  describe::Assumptions assumed;                         // which file of ours stands for a name
};

// `names`: what the profile calls each rank's device, or "". `word`: what they all are; "": what
// the names say.
Result<KnownDevices> known_devices(const std::vector<std::string>& names, const std::string& word,
                                   const Context& context);

}  // namespace sextant::app
