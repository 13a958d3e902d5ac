// Operators that stream through memory one directly behind the other (device_work.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/device_work.h"

namespace sextant::metrics {

// An operator's work in the order in which it ran on its stream.
struct StreamWork {
  WorkPass pass = WorkPass::kUnknown;
  WorkPart part = WorkPart::kOther;
  std::string_view name;
  std::optional<timeline::OperatorUse> use;
  const std::vector<timeline::Tensor>* inputs = nullptr;
  const std::vector<timeline::Tensor>* outputs = nullptr;
  std::optional<double> bytes;
  std::int64_t time_ns = 0;
  std::int64_t idle_ns = 0;
  Interval span = {};
};

// Of one stream.
std::vector<ChainRow> chains_of(const std::vector<StreamWork>& works);

}  // namespace sextant::metrics
