// The device that a profile names, in the catalogue.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "describe/assumption.h"
#include "describe/cluster/device.h"
#include "timeline/recording.h"

namespace sextant::app {

struct KnownDevices {
  std::vector<std::optional<describe::Device>> of_rank;  // as the ranks given; nothing: unknown
  describe::Assumptions assumed;                         // which file of ours stands for a name
};

// `word`: what every rank's device is; else "", and it is what the profile's name says.
Result<KnownDevices> known_devices(const std::vector<timeline::RecordedRank>& ranks,
                                   const std::string& word, const Context& context);

}  // namespace sextant::app
