// What a step computes, as a tree: stage, pass, operator with its shape.
#pragma once

#include <vector>

#include "explain/term_tree.h"
#include "workload/operators.h"

namespace sextant::explain {

struct StageWork {
  workload::Stage stage;
  std::vector<workload::Operator> operators;  // of one microbatch
};

struct WorkAnswer {
  std::int64_t microbatches = 1;
  std::vector<StageWork> stages;
  std::vector<workload::Operator> update;  // of the first pipeline rank, once a step
};

// FLOPs that the hardware of one rank executes in a step, stage by stage.
Term work_tree(const WorkAnswer& answer);

// "8192x28672x8192", "1 x 8192 queries, 64/8 heads of 128, 4096 keys": the shape of an operator.
std::string shape_text(const workload::Operator& op);

}  // namespace sextant::explain
