#include "explain/step_tree.h"

#include <cmath>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "step/testing.h"
#include "workload/shard.h"

namespace sextant::explain {
namespace {

// Nothing is left over: where a term has parts, they are all of it, to a part in 10⁹.
void expect_explained(const Term& term) {
  double sum = 0.0;
  for (const Term& part : term.parts) {
    RC_ASSERT(part.unit == term.unit && part.number > 0.0);
    expect_explained(part);
    sum += part.number;
  }
  RC_ASSERT(term.parts.empty() || std::abs(sum / term.number - 1.0) <= 1e-9);
}

RC_GTEST_PROP(StepTree, NothingOfAnyTermIsLeftUnexplained, ()) {
  const describe::Job job = workload::random_job();
  step::RecordedStep recorded = step::recorded_step(job, step::any_machine());
  step::Estimate estimate;
  estimate.step = std::move(recorded.estimate);
  estimate.stages = workload::stages_of(job);
  estimate.microbatches = workload::shard_of(job).microbatches;
  const Term tree = step_tree(estimate, recorded.record, job);
  RC_ASSERT(tree.number == estimate.step.step.base());
  RC_ASSERT(!tree.parts.empty());
  expect_explained(tree);
  // Not only down to the terms: what takes time on a device or a link is named.
  for (const Term& term : tree.parts) {
    RC_ASSERT(term.name == "bubble" || !term.parts.empty());
  }
}

}  // namespace
}  // namespace sextant::explain
