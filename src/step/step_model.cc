#include "step/step_model.h"

#include <algorithm>

namespace sextant::step {

using workload::GroupKind;

double hiding_microbatches(const describe::Layout& layout, std::int64_t microbatches) {
  if (layout.pp == 1 || layout.vpp == 1) {
    return 1.0;
  }
  const auto chunks = static_cast<double>(layout.vpp);
  const auto turn = static_cast<double>(std::min(layout.pp, microbatches));
  return std::max(1.0, turn * (chunks - 1.0) / chunks);
}

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

}  // namespace sextant::step
