// What is noted of an item is what it is: its summands add up to it, their factors multiply to
// them, at every moment of every rank, whatever the framework.
#include "cost/memory/record.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cost/memory/memory.h"
#include "describe/layout/rules.h"
#include "workload/traffic_testing.h"

namespace sextant::cost {
namespace {

using describe::Framework;
using describe::Job;
using workload::picked;

// random_job() and what else memory goes by.
Job random_memory_job() {
  using describe::LossKernel;
  using describe::RecomputeModule;
  using describe::Storage;
  Job job = workload::random_job();
  job.framework = picked({job.framework, job.framework, Framework::kMegatronDeepspeed});
  describe::Layout& layout = job.layout;
  layout.precision = picked({describe::Precision::kBf16, describe::Precision::kFp8});
  layout.parameters = picked({layout.parameters, Storage::kFp32});
  layout.gradients = picked({Storage::kFp32, Storage::kBf16});
  layout.optimizer.offload = picked({false, false, true});
  layout.activation_offload = picked({false, false, true});
  layout.reshard_after_forward = picked({true, true, false});
  layout.loss = picked({layout.loss, LossKernel::kPlain, LossKernel::kFused, LossKernel::kChunked});
  if (picked({0, 0, 0, 1}) == 1) {
    layout.recompute.granularity = describe::Recompute::kSelective;
    layout.recompute.modules = {RecomputeModule::kEverySecondProduct};
  }
  RC_PRE(describe::check_rules(job).empty());
  return job;
}

describe::MemoryFacts facts_of(const Job& job) {
  return *describe::memory_facts(describe::DataStore(), job.framework);
}

bool same(Bytes a, Bytes b) {
  return std::abs((a - b).base()) <= 1e-9 * std::abs(a.base());
}

void expect_parts_explain(const MemoryPart& part) {
  double product = 1.0;
  for (const MemoryFactor& factor : part.factors) {
    product = factor.applied(product);
  }
  RC_ASSERT(!part.what.empty() && !part.factors.empty());
  RC_ASSERT(same(Bytes(product), part.bytes));
  Bytes sum;
  for (const MemoryPart& own : part.parts) {
    expect_parts_explain(own);
    sum += own.bytes;
  }
  RC_ASSERT(part.parts.empty() || same(sum, part.bytes));
}

RC_GTEST_PROP(MemoryRecord, EveryItemIsTheSumOfWhatIsNotedOfIt, ()) {
  const Job job = random_memory_job();
  const std::int64_t rank = *rc::gen::inRange<std::int64_t>(0, job.layout.pp);
  MemoryModel model(job, facts_of(job));
  const RankMemory memory = model.rank(job.layout, rank);
  const MemoryRecord record = model.why(job.layout, rank);
  for (const auto& [moment, moment_word] : kMemoryMomentWords) {
    for (const auto& [item, item_word] : kMemoryItemWords) {
      Bytes sum;
      for (const MemoryPart* part : record.parts(item, moment)) {
        expect_parts_explain(*part);
        sum += part->bytes;
      }
      RC_ASSERT(same(memory.at(moment)[item], sum));
    }
  }
}

// Asking why changes no number.
RC_GTEST_PROP(MemoryRecord, ARecordChangesNothing, ()) {
  const Job job = random_memory_job();
  MemoryModel model(job, facts_of(job));
  const Bytes before = model.rank(job.layout, 0).allocated;
  static_cast<void>(model.why(job.layout, 0));
  RC_ASSERT(model.rank(job.layout, 0).allocated == before);
}

}  // namespace
}  // namespace sextant::cost
