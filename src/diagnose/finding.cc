#include "diagnose/finding.h"

#include <algorithm>
#include <cassert>

namespace sextant::diagnose {

std::string_view name_of(Status status) {
  switch (status) {
    case Status::kVerified:
      return "verified";
    case Status::kInferred:
      return "inferred";
    case Status::kUnverified:
      return "unverified";
  }
  return "?";
}

std::string_view name_of(Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::kCompute:
      return "compute";
    case Bottleneck::kMemory:
      return "hbm";
    case Bottleneck::kCommunication:
      return "communication";
    case Bottleneck::kStall:
      return "stall";
  }
  return "?";
}

double gain_ceiling(Seconds lost, Seconds step) {
  assert(lost < step);
  return step / (step - lost) - 1.0;
}

Seconds total_ceiling(std::span<const Finding> findings, const PartTimes& step) {
  Seconds total{};
  Seconds whole{};
  for (std::size_t part = 0; part < kStepParts; ++part) {
    Seconds claimed{};
    Seconds largest{};
    for (const Finding& finding : findings) {
      if (!finding.explained_by) {
        claimed += finding.parts[part];
        largest = std::max(largest, finding.parts[part]);
      }
    }
    total += std::max(largest, std::min(claimed, step[part]));
    whole += step[part];
  }
  return std::min(total, whole);
}

}  // namespace sextant::diagnose
