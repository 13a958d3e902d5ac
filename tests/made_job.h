// The work of one rank of a real job, as the step model prices it, cut into what a profile shows:
// kernels and messages of one layer and of what is done once a step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/job_request.h"
#include "base/result.h"
#include "base/units.h"
#include "describe/layout/job.h"
#include "step/step_record.h"
#include "workload/collective.h"
#include "workload/operator.h"

namespace sextant::tests {

struct MadeKernel {
  std::string name;
  workload::Part part = workload::Part::kQkv;
  Seconds takes;
  bool is_attention = false;
  bool is_expert = false;
};

struct MadeMessage {
  workload::Collective what;
  Seconds takes;
  double times = 1.0;  // a layer, or a step
};

struct MadePass {
  std::vector<MadeKernel> kernels;  // of one layer, in their order
  std::vector<MadeMessage> messages;
  [[nodiscard]] Seconds compute() const;
};

// Layers are alike: those of the slowest pipeline rank, head and embedding spread over them.
struct MadeJob {
  std::string name;
  describe::Job job;
  std::int64_t layers = 0;  // of the slowest rank
  MadePass forward;
  MadePass backward;
  std::vector<MadeMessage> once;  // of all layers
  Seconds update;
  Seconds between;  // a message between pipeline stages
  Seconds step;     // as estimated
};

// An Error where the job is none.
Result<MadeJob> made_job(const std::string& name, const app::JobRequest& request,
                         const app::Context& context);

}  // namespace sextant::tests
