// PyTorch profiles made by hand, small, with numbers that can be worked out.
#pragma once

#include <string>

namespace sextant::tests {

// Every step takes 10 ms. A call launches a matrix product, 4 ms on stream 7; then an all-reduce of
// 4 MiB with all ranks follows on that stream at once and takes 2 ms, or 2 ms less what the rank
// came late; then 1 ms of compute. From its last kernel to the next step's first the device idles.
struct MadeTrace {
  int rank = 0;
  int world = 1;          // 1: no all-reduce
  int steps = 5;          // numbered from 3
  int late_us = 0;        // the rank's matrix product takes so much longer
  bool is_marked = true;  // ProfilerStep#N
  bool says_rank = true;  // in distributedInfo
  std::string device = "NVIDIA H100 80GB HBM3";
  std::string nccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long)";
};

std::string made_trace(const MadeTrace& made);

}  // namespace sextant::tests
