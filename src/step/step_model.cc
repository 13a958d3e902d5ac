#include "step/step_model.h"

namespace sextant::step {

using workload::GroupKind;

Axis axis_of(GroupKind group) {
  switch (group) {
    case GroupKind::kTp:
    case GroupKind::kEtp:
      return Axis::kTensor;
    case GroupKind::kCp:
    case GroupKind::kCpInner:
    case GroupKind::kCpOuter:
      return Axis::kContext;
    case GroupKind::kEp:
    case GroupKind::kTpEp:
      return Axis::kExpert;
    case GroupKind::kPipeline:
    case GroupKind::kEmbedding:
    case GroupKind::kModel:
      return Axis::kPipeline;
    case GroupKind::kDp:
    case GroupKind::kShard:
    case GroupKind::kReplicate:
    case GroupKind::kExpertDp:
    case GroupKind::kExpertShard:
    case GroupKind::kExpertReplicate:
    case GroupKind::kWorld:
      break;
  }
  return Axis::kData;
}

Seconds AxisTimes::total() const {
  Seconds sum;
  for (const Seconds time : times) {
    sum += time;
  }
  return sum;
}

AxisTimes& AxisTimes::operator+=(const AxisTimes& other) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    times[i] += other.times[i];
  }
  return *this;
}

AxisTimes AxisTimes::operator*(double factor) const {
  AxisTimes product;
  for (std::size_t i = 0; i < times.size(); ++i) {
    product.times[i] = times[i] * factor;
  }
  return product;
}

}  // namespace sextant::step
