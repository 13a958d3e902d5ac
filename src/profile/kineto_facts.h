// What a PyTorch profile says beside its events: rank, world, devices, what was recorded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "profile/json_skim.h"
#include "timeline/recording.h"

namespace sextant::profile {

struct KinetoFacts {
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> world;
  std::string host;
  std::map<std::int64_t, timeline::RecordedDevice> devices;  // by id
  std::optional<std::int64_t> base_ns;                       // what times count from
  bool has_shapes = false;
  bool has_stacks = false;
  bool has_memory = false;
  std::int64_t unreadable = 0;  // values that are not as they should be
};

// Takes in a member of the outer object; those that say nothing to us are left alone.
void take_fact(KinetoFacts& facts, const RawValue& key, const RawValue& value);

}  // namespace sextant::profile
