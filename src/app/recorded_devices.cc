#include "app/recorded_devices.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "describe/cluster/load_cluster.h"
#include "measured/hardware.h"

namespace sextant::app {
namespace {

Result<std::optional<describe::Device>> named_device(const timeline::RecordedDevice& recorded,
                                                     measured::Hardware& hardware) {
  SEXTANT_TRY(const std::optional<std::string> id, hardware.device_in_text(recorded.name));
  if (!id) {
    return std::nullopt;
  }
  SEXTANT_TRY(const describe::Device* device, hardware.device(*id));
  if (device != nullptr && recorded.memory) {
    SEXTANT_TRY(device, hardware.variant(*device, *recorded.memory));
  }
  return device == nullptr ? std::nullopt : std::optional(*device);
}

}  // namespace

Result<KnownDevices> known_devices(const std::vector<timeline::RecordedRank>& ranks,
                                   const std::string& word, const Context& context) {
  KnownDevices known;
  if (!word.empty()) {
    SEXTANT_TRY(const describe::Device device, describe::load_device(word, context.data));
    known.of_rank.assign(ranks.size(), device);
    return known;
  }
  measured::Hardware hardware(context.data);
  using Key = std::pair<std::string, double>;
  std::map<Key, std::optional<describe::Device>> seen;
  for (const timeline::RecordedRank& rank : ranks) {
    if (!rank.device || rank.device->name.empty()) {
      known.of_rank.emplace_back();
      continue;
    }
    const Key key{rank.device->name, rank.device->memory.value_or(Bytes()).base()};
    if (!seen.contains(key)) {
      SEXTANT_TRY(seen[key], named_device(*rank.device, hardware));
      if (const auto& device = seen[key]) {
        known.assumed.push_back(
            {"device",
             device->id,
             fmt::format("the profile names \"{}\"", printable(rank.device->name)),
             {}});
      }
    }
    known.of_rank.push_back(seen[key]);
  }
  return known;
}

}  // namespace sextant::app
