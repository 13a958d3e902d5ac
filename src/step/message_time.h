// How long one message of a step takes, where its group lies on the machine.
//
// An exchange of the DeepEP dispatcher takes what the library's kernels take (expert_exchange.h);
// where these were not measured, an all-to-all of the same bytes. XLA for GPUs merges what it
// gathers and scatters for a layer into one message (its combiner passes, whose thresholds the
// recipes set to gigabytes): a message takes its share of the layer's.
#pragma once

#include <optional>

#include "describe/layout/job.h"
#include "step/step_model.h"
#include "workload/collective.h"
#include "workload/groups.h"

namespace sextant::step {

// What an expert layer sends, as the library sees it.
struct ExpertRouting {
  std::int64_t experts = 1;
  std::int64_t topk = 1;
  std::int64_t topk_groups = 0;  // 0: any
  std::int64_t groups = 0;
  double copies = 1.0;  // of a token, in a message's bytes
  Bytes token;
};
// Of the job's first expert layer; nothing where it has none, or another dispatcher.
std::optional<ExpertRouting> expert_routing(const describe::Job& job, const workload::Shard& shard);

// A layer's parameters as XLA gathers them on GPUs, all tensor-parallel ranks together; nothing for
// other frameworks.
std::optional<Bytes> merged_bytes(const describe::Job& job);

// The messages of one rank.
struct MessagePricer {
  const StepModel& model;
  const workload::RankGrid& grid;
  std::int64_t rank = 0;
  std::optional<ExpertRouting> routing = {};
  std::optional<Bytes> merged = {};  // merged_bytes(), of one tensor-parallel rank

  // One of its `count` calls.
  [[nodiscard]] Seconds once(const workload::Collective& message) const;
};
// The grid and the model must outlive it.
MessagePricer message_pricer(const describe::Job& job, const workload::Shard& shard,
                             const workload::RankGrid& grid, std::int64_t rank,
                             const StepModel& model);

}  // namespace sextant::step
