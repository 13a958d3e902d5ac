#include "workload/collective.h"

#include <algorithm>

#include "workload/wire.h"

namespace sextant::workload {

Bytes Collective::payload_bytes() const {
  return Bytes(static_cast<double>(std::max(input_bytes, output_bytes)) *
               static_cast<double>(count));
}

Bytes Collective::wire_bytes() const {
  return payload_bytes() * wire_share(op, group_size);
}

}  // namespace sextant::workload
