#include "measured/single_device.h"

#include <fmt/format.h>

namespace sextant::measured {

Result<TableDevice> table_device(const TableContext& context) {
  const std::string folder = context.path.parent_path().filename().string();
  for (const std::string& text : {context.source, folder}) {
    SEXTANT_TRY(const std::optional<std::string> device, context.hardware.device_in_text(text));
    if (device) {
      return TableDevice{*device,
                         {"device", *device, fmt::format("from the name \"{}\"", text), {}}};
    }
  }
  return TableDevice{"h200-sxm",
                     {"device", "h200-sxm", "not stated; tables of this kind were made on it", {}}};
}

}  // namespace sextant::measured
