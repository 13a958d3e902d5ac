// Legal jobs of every framework, as the settings of their files and as what they mean. Tests of
// rules change one thing in them.
#pragma once

#include <string_view>

#include "describe/layout/job.h"
#include "emit/settings.h"

namespace sextant::tests {

struct Written {
  describe::Job job;
  emit::Settings settings;
};
using Base = Written (*)();

// "key=value other=a;b": values are separated by ';', an earlier value of the key is replaced.
void set(emit::Settings& settings, std::string_view text);

// Llama-3.1-70B on 64 H100, dp=4 and 32 microbatches.
Written megatron();
Written bridge();
// Interleaved: 5 chunks of 4 layers.
Written interleaved();
// DeepSeek-V3 on 256 H100: 61 layers, expert groups inside a node.
Written experts();
// The same without a pipeline, its exchange overlapped.
Written overlapped_experts();

// Llama-3.1-8B on 64 H100.
Written torchtitan();
// One replica a rank, 64 experts in every layer.
Written torchtitan_experts();
Written deepspeed();
Written maxtext();
Written accelerate();
Written nanotron();

}  // namespace sextant::tests
