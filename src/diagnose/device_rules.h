// Rules about what a device does (data/diagnose/device.toml says what each means):
//   eager-attention, missing-tensor-cores, small-products, slow-kernels, clock-throttling,
//   unfused-optimizer, needless-recompute, memory-bound-epilogues, vocabulary-logits,
//   relayout-copies, gather-then-slice
//
// What a finding costs is the time of the work in question less the least that it needs done well:
// its FLOPs at the datasheet's peak of the format in question, its bytes at the datasheet's
// bandwidth. No kernel is faster, so mending it gains no more. Work run again for the backward pass
// is claimed by needless-recompute alone, the optimizer's by unfused-optimizer.
#pragma once

#include "diagnose/diagnosis.h"
#include "diagnose/scene.h"

namespace sextant::diagnose {

Findings device_findings(const Scene& scene);

// By file.
Findings attention_findings(const Scene& scene);
Findings product_findings(const Scene& scene);
Findings pass_findings(const Scene& scene);
Findings stream_findings(const Scene& scene);

}  // namespace sextant::diagnose
