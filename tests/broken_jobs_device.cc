// Jobs that ask a device, or a framework, for what it does not have.
#include "broken_jobs.h"

namespace sextant::tests {

std::vector<BrokenJob> device_jobs() {
  using describe::Job;
  using describe::Overlap;
  using describe::Precision;
  using describe::Schedule;
  return {
      {"ATTENTION-DEVICE", megatron, "",
       [](Job& j) {
         j.cluster.device.generation = "volta";
         j.stated.emplace("attention");
       }},
      {"FRAMEWORK-AXES", accelerate, "",
       [](Job& j) {
         j.layout.pp = 2;
         j.layout.dp = 16;
       }},
      {"FRAMEWORK-DEVICE", megatron, "",
       [](Job& j) { j.cluster.system.scale_up = describe::ScaleUp::kIci3d; }},
      {"MXFP8-DEVICE", megatron, "", [](Job& j) { j.layout.precision = Precision::kMxfp8; }},
      {"PRECISION-FRAMEWORK", torchtitan, "",
       [](Job& j) { j.layout.precision = Precision::kInt8; }},
      {"SCHEDULE-FRAMEWORK", megatron, "", [](Job& j) { j.layout.schedule = Schedule::kGpipe; }},
      {"SCHEDULE-FRAMEWORK", torchtitan, "",
       [](Job& j) { j.layout.schedule = Schedule::kDualPipe; }},
      {"TP-OVERLAP-DEVICE", megatron, "",
       [](Job& j) {
         j.cluster.device.generation = "turing";
         j.layout.overlap.push_back(Overlap::kTensorParallel);
       }},
      {"TP-OVERLAP-DOMAIN", megatron, "",
       [](Job& j) {
         j.cluster.system.domain_size.value = 2;
         j.layout.overlap.push_back(Overlap::kTensorParallel);
       }},
      {"ACCELERATE-BATCH-MICRO", accelerate, "", [](Job& j) { j.layout.mbs = 3; }},
      {"MAXTEXT-BATCH-MICRO", maxtext, "",
       [](Job& j) {
         j.layout.pp = 1;
         j.layout.mbs = 2;
         j.global_batch = 192;
       }},
  };
}

}  // namespace sextant::tests
