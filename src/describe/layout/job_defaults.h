// What a job trains on where nobody says: rules that are stated, each listed in Job::assumed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "describe/layout/job.h"

namespace sextant::describe {

// Sequences of 4096 tokens, or the model's most where smaller.
void fill_sequences(Job& job);

// Microbatches of a job whose batch is left open: one without a pipeline, else four a pipeline
// rank, which leaves a bubble of at most a fifth.
std::int64_t default_microbatches(const Layout& layout);
// The batch with so many microbatches a replica.
std::int64_t usual_batch(const Job& job);
// The batch of a job that leaves it open: fill_planned_batch()'s, or the nearest that its replicas
// share evenly, in whole rounds of an interleaved pipeline. So a plan's layout asked alone has the
// plan's batch.
void fill_batch(Job& job);
// One batch that every one of these jobs divides into whole rounds of its pipeline, not below the
// largest of theirs; 0 where there is none within bounds.
std::int64_t common_batch(std::span<const Job* const> jobs);
// The batch of a job whose layout is left open: about 4 Mi tokens a step.
void fill_planned_batch(Job& job);

// A job with other values for these keys of its layout ("tp=4,vpp=2"), which count as stated. What
// they leave open follows them: dp takes the devices that are left, the schedule is the usual one
// of the chunks.
Result<Job> with_keys(Job job, std::string_view keys);

// What stands in for what nobody stated, so that rules about the rest can be asked: a length that
// every rank can divide, and a device.
std::int64_t stand_in_sequence(const Layout& layout);
inline constexpr std::string_view kStandInDevice = "h100-sxm";

// As many devices as make the layout whole.
std::int64_t least_devices(const Layout& layout);

}  // namespace sextant::describe
