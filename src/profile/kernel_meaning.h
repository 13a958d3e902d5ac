// What a device's kernel is by its name, as the readers of profiles are told by who calls them.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "base/collective.h"
#include "timeline/label.h"

namespace sextant::profile {

struct KernelMeaning {
  timeline::SpanKind kind = timeline::SpanKind::kCompute;
  std::optional<CollectiveOp> op = std::nullopt;
  std::optional<timeline::ElementType> element = std::nullopt;
  std::optional<timeline::OperatorUse> use = std::nullopt;   // of one that computes
  std::optional<timeline::ProductUnit> unit = std::nullopt;  // of one that multiplies matrices
};
using KernelNames = std::function<KernelMeaning(std::string_view name)>;

}  // namespace sextant::profile
