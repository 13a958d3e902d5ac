// Megatron-LM: jobs as command-line flags of Megatron Core 0.20, and back.
//
// Settings of this dialect are keyed by flag ("tensor_model_parallel_size",
// "no_overlap_p2p_communication"); reading takes destinations too, as the arguments block of a log
// has them ("overlap_p2p_comm"), and flags of older releases, which it calls by their new names in
// the facts.
#pragma once

#include "describe/data_store.h"
#include "describe/layout/job.h"
#include "emit/dialects.h"

namespace sextant::emit {

Writing write_megatron(const describe::Job& job);
Reading read_megatron(const Settings& settings, const describe::DataStore& data);

}  // namespace sextant::emit
