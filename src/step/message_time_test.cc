// How long single messages take where their groups lie.
#include "step/message_time.h"

#include <gtest/gtest.h>

#include "cost/comm/collective_time.h"
#include "describe/cluster/load_cluster.h"
#include "describe/model/load_model.h"

namespace sextant::step {
namespace {

using workload::Collective;
using workload::GroupKind;

describe::Job job_of(describe::Dispatcher dispatcher) {
  const describe::DataStore data;
  describe::Job job;
  job.model = *describe::load_model("deepseek-v3", data);
  job.cluster = *describe::load_cluster("8xdgx-h100", data);
  job.framework = describe::Framework::kMegatronCore;
  job.layout.ep = 64;
  job.layout.dispatcher = dispatcher;
  job.global_batch = 64;
  job.sequences.length = 4096;
  return job;
}

StepModel model_of(const describe::Job& job) {
  StepModel model;
  model.domain_size = 8;
  // Only what the messages below need.
  const describe::DataStore data;
  const auto facts = describe::expert_comm_facts(data);
  const auto* kernels = facts->kernels_of(job.cluster.device.generation);
  model.experts = ExpertLinks{cost::expert_model(*facts, *kernels),
                              job.cluster.device.scale_up_bandwidth->value, facts->sms.value};
  model.comm.nic_rate = 50e9;
  return model;
}

// The dispatcher sends a token once to a domain; an all-to-all would send it once to every expert.
TEST(MessageTime, ALibraryTakesLessThanTheNetworkForEveryCopy) {
  const describe::Job job = job_of(describe::Dispatcher::kDeepEp);
  const workload::Shard shard = workload::shard_of(job);
  const workload::RankGrid grid(job.layout, shard);
  const auto routing = expert_routing(job, shard);
  ASSERT_TRUE(routing.has_value());
  EXPECT_EQ(routing->topk, 8);
  EXPECT_EQ(routing->experts, 256);
  const StepModel model = model_of(job);
  const auto sent = static_cast<std::int64_t>(4096 * routing->copies * (routing->token / 1_B));
  const Collective dispatch{.what = "tokens to experts",
                            .op = describe::CollectiveOp::kAllToAll,
                            .group = GroupKind::kTpEp,
                            .group_size = 64,
                            .input_bytes = sent,
                            .output_bytes = sent,
                            .count = 1};
  const MessagePricer pricer{model, grid, 0, routing};
  const Seconds time = pricer.once(dispatch);
  EXPECT_GT(time, Seconds());
  EXPECT_LT(time, Bytes(static_cast<double>(sent)) / BytesPerSecond(50e9));
}

TEST(MessageTime, OtherDispatchersHaveNoRouting) {
  const describe::Job job = job_of(describe::Dispatcher::kAllToAll);
  EXPECT_FALSE(expert_routing(job, workload::shard_of(job)).has_value());
}

}  // namespace
}  // namespace sextant::step
