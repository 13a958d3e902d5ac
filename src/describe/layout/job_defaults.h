// What a job trains on where nobody says: rules that are stated, each listed in Job::assumed.
#pragma once

#include <cstdint>

#include "describe/layout/job.h"

namespace sextant::describe {

// Sequences of 4096 tokens, or the model's most where smaller.
void fill_sequences(Job& job);

// Microbatches of a job whose batch is left open: one without a pipeline, else four a pipeline
// rank, which leaves a bubble of at most a fifth.
std::int64_t default_microbatches(const Layout& layout);
// The batch with so many microbatches a replica.
void fill_batch(Job& job);
// The batch of a job whose layout is left open: about 4 Mi tokens a step.
void fill_planned_batch(Job& job);

// As many devices as make the layout whole.
std::int64_t least_devices(const Layout& layout);

}  // namespace sextant::describe
