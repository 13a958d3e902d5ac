// A run that is made up, as the files that PyTorch's profiler would write of it, one a rank.
#pragma once

#include <string>
#include <vector>

#include "made_run.h"

namespace sextant::tests {

// As torch 2.6 with NCCL 2.21 writes them, on that rank's clock; shapes and memory not recorded.
// REQUIRES: simulate() was there.
std::string kineto_profile(const MadeRun& run, std::size_t rank);

}  // namespace sextant::tests
