// The jobs that faults are put into, each cut down to a run of a few layers.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "made_fault.h"

namespace sextant::tests {

struct MadeCase {
  MadeJob job;
  MadePlan plan;
};

enum class JobKind : std::uint8_t {
  kTensor,    // Llama 3.1 8B, tp 4, dp 2, Megatron
  kPipeline,  // the same, pp 2, dp 4
  kExperts,   // Mixtral 8x7B, ep 8, Megatron
  kContext,   // Llama 3.1 8B of 64 k tokens, cp 4, tp 2
  kSharded,   // Llama 3.1 8B of 32 k tokens, FSDP, torchtitan
};
inline constexpr std::array<JobKind, 5> kJobs{
    JobKind::kTensor, JobKind::kPipeline, JobKind::kExperts, JobKind::kContext, JobKind::kSharded};
std::string_view name_of(JobKind kind);

// The run without a fault; `seed` moves clocks and noise.
const MadeCase& made_case(JobKind kind);

// A fault of that kind with its place and size by the seed, the job it is put into, and that job's
// plan where the fault wants another.
struct FaultCase {
  JobKind job = JobKind::kTensor;
  MadePlan plan;
  MadeFault fault;
};
FaultCase fault_case(FaultKind kind, std::uint64_t seed);

}  // namespace sextant::tests
