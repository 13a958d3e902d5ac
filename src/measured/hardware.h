// Hardware as tables write it: words and free text to devices and clusters of data/.
//
// Device text is matched against ids and aliases of data/devices first, then against a short list
// of cloud instance names and compute capabilities that stand for one device. What cannot be told
// stays unknown. Loaded files are kept, so that thousands of rows read each file once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "describe/cluster/cluster.h"
#include "describe/data_store.h"
#include "measured/row.h"

namespace sextant::measured {

class Hardware {
 public:
  // REQUIRES: `data` outlives this.
  explicit Hardware(const describe::DataStore& data) : data_(data) {}

  [[nodiscard]] const describe::DataStore& data() const { return data_; }

  // A device by id or alias; nothing if data/ has none. An Error only where its file is broken.
  Result<const describe::Device*> device(std::string_view word);
  // `devices` of a device in its reference system.
  Result<describe::Cluster> cluster(std::int64_t devices, const describe::Device& device);
  Result<const describe::Fabric*> fabric(std::string_view word);
  // The variant of a device with that much memory ("a100-sxm" with 40 GB), else the device itself.
  Result<const describe::Device*> variant(const describe::Device& device, Bytes memory);

  // The device a free text names: longest match first. "8x A100-SXM4-80GB" → a100-sxm-80g.
  Result<std::optional<std::string>> device_in_text(std::string_view text);

 private:
  struct Name {
    std::string text;  // normalised
    std::string id;
  };
  Result<void> load_names();

  const describe::DataStore& data_;
  std::map<std::string, describe::Device, std::less<>> devices_;
  std::map<std::string, describe::Fabric, std::less<>> fabrics_;
  std::map<std::pair<std::int64_t, std::string>, describe::Cluster> clusters_;
  std::map<std::string, std::optional<std::string>, std::less<>> texts_;
  std::vector<Name> names_;  // longest first
};

// What two link columns say ("NVLink4+NVSwitch 450GB/s/GPU uni", "EFA 400Gb/s per GPU (32x100)").
// `devices_per_node` turns rates per node into rates per device.
Links read_links(std::string_view intra, std::string_view inter,
                 std::optional<std::int64_t> devices_per_node);

}  // namespace sextant::measured
