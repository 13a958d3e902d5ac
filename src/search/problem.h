// What a search is asked: a job whose layout is open, and the machine it runs on.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "describe/layout/job.h"
#include "describe/memory_facts.h"
#include "step/step_model.h"

namespace sextant::search {

struct Problem {
  // Model, cluster, framework, sequences and global batch stay as they are. The layout holds what
  // every candidate starts from: formats, kernels, and the values of `fixed`.
  describe::Job job;
  step::StepModel machine;
  describe::MemoryFacts memory;
  std::vector<std::string> fixed;  // keys of the layout that keep the job's value ("tp")
  double headroom = 0.05;          // share of a device's memory that must stay free

  [[nodiscard]] bool is_fixed(std::string_view key) const {
    return std::find(fixed.begin(), fixed.end(), key) != fixed.end();
  }
  // What a candidate may need on a device.
  [[nodiscard]] Bytes available() const {
    return job.cluster.device.usable_memory() * (1.0 - headroom);
  }
};

}  // namespace sextant::search
