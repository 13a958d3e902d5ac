#include "emit/accelerate.h"

#include <gtest/gtest.h>

#include "emit/any_job_testing.h"
#include "emit/round_trip_testing.h"
#include "emit/tree_file.h"

namespace sextant::emit {
namespace {

// The sequence is no word of the file either.
std::vector<std::string> spoken_fields(const std::vector<Inexpressible>& left_out) {
  return fields_of(left_out, {"model", "gbs", "seq"});
}

Reading through_accelerate_file(const Writing& writing) {
  const auto settings = parse_yaml(render_yaml(writing.settings), "a.yaml", Dialect::kAccelerate);
  if (!settings) {
    ADD_FAILURE() << to_text(settings.error());
    return {};
  }
  EXPECT_EQ(dialect_of_tree(*settings), Dialect::kAccelerate);
  return read_accelerate(*settings, describe::DataStore{});
}

Reading read_accelerate_text(std::string_view text) {
  const auto settings = parse_yaml(text, "a.yaml", Dialect::kAccelerate);
  EXPECT_TRUE(settings) << to_text(settings.error());
  return settings ? read_accelerate(*settings, describe::DataStore{}) : Reading{};
}

TEST(Accelerate, WhatIsLeftOutIsExactlyWhatDiffers) {
  EXPECT_TRUE(rc::check("round trip", [] {
    for (int i = 0; i < 10; ++i) {
      const Job job = any_job(describe::Framework::kAccelerate);
      const Writing writing = write_accelerate(job);
      const Reading reading = through_accelerate_file(writing);
      RC_ASSERT(spoken_fields(writing.left_out) == differing_keys(job.layout, reading.layout));
      RC_ASSERT(reading.devices == job.cluster.devices);
      RC_ASSERT(!reading.sequence && !reading.global_batch);
      RC_ASSERT(reading.unknown.empty());
    }
  }));
}

// FSDP 2, the engine with most words.
Job any_fsdp_job() {
  Job job = any_job(describe::Framework::kAccelerate);
  Layout& at = job.layout;
  const Layout plain;
  at.tp = any::one_of<std::int64_t>({1, 2, 4});
  at.sp = false;
  at.cp_method =
      at.cp == 1
          ? plain.cp_method
          : any::one_of<CpMethod>({CpMethod::kP2pRing, CpMethod::kAllGather, CpMethod::kAllToAll});
  at.cp_inner = 0;
  at.pp = 1;
  at.vpp = 1;
  at.schedule = plain.schedule;
  at.split = {};
  at.ep = 1;
  at.etp = 1;
  at.dispatcher = plain.dispatcher;
  at.dp = any::one_of<std::int64_t>({4, 8, 16});
  at.zero = Zero::kParameters;
  at.zero_group = any::once_in(2) ? at.dp / 2 * at.cp : 0;
  at.reshard_after_forward = any::once_in(2);
  at.mbs = 1;
  at.recompute = {.granularity = any::one_of<Recompute>({Recompute::kNone, Recompute::kFull}),
                  .modules = {}};
  at.activation_offload = false;
  at.precision = any::one_of<Precision>(
      {Precision::kBf16, Precision::kFp16, Precision::kFp8, Precision::kFp32});
  at.parameters = Storage::kFp32;
  at.gradients = Storage::kFp32;
  at.optimizer = {.master = Storage::kNone, .offload = any::once_in(2)};
  at.attention = plain.attention;
  at.loss = plain.loss;
  at.overlap = {Overlap::kGradReduce, Overlap::kParamGather};
  at.order = plain.order;
  job.cluster.devices = at.tp * at.cp * at.dp;
  return job;
}

TEST(Accelerate, FsdpJobsReadBackWhole) {
  EXPECT_TRUE(rc::check("nothing of the layout is left out", [] {
    for (int i = 0; i < 10; ++i) {
      const Job job = any_fsdp_job();
      const Writing writing = write_accelerate(job);
      RC_ASSERT(spoken_fields(writing.left_out).empty());
      RC_ASSERT(writing.left_out.size() == 3U);
      const Reading reading = through_accelerate_file(writing);
      RC_ASSERT(reading.layout == job.layout);
      RC_ASSERT(reading.devices == job.cluster.devices);
      RC_ASSERT(reading.unresolved.empty());
    }
  }));
}

TEST(Accelerate, ReadsFsdp2WithAMesh) {
  const Reading reading = read_accelerate_text(
      "compute_environment: LOCAL_MACHINE\n"
      "debug: false\n"
      "distributed_type: FSDP\n"
      "downcast_bf16: 'no'\n"
      "enable_cpu_affinity: false\n"
      "dynamo_config:\n"
      "  dynamo_backend: INDUCTOR\n"
      "fsdp_config:\n"
      "  fsdp_activation_checkpointing: true\n"
      "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
      "  fsdp_reshard_after_forward: false\n"
      "  fsdp_version: 2\n"
      "machine_rank: 0\n"
      "mixed_precision: bf16\n"
      "num_machines: 4\n"
      "num_processes: 32\n"
      "parallelism_config:\n"
      "  parallelism_config_dp_replicate_size: 2\n"
      "  parallelism_config_dp_shard_size: 4\n"
      "  parallelism_config_tp_size: 2\n"
      "  parallelism_config_cp_size: 2\n"
      "  parallelism_config_cp_comm_strategy: alltoall\n"
      "tpu_env: []\n"
      "use_cpu: false\n"
      "surprise: 1\n");
  EXPECT_EQ(describe::to_text(reading.layout),
            "tp=2,cp=2,dp=8,zero=3,zero_group=8,reshard=0,recompute=full,parameters=fp32,"
            "optimizer=adam:none:fp32:fp32,compile=compile,overlap=grad_reduce+param_gather");
  EXPECT_EQ(reading.devices, 32);
  EXPECT_EQ(reading.devices_per_node, 8);
  EXPECT_TRUE(reading.unresolved.empty());
  ASSERT_EQ(reading.unknown.size(), 1U);
  EXPECT_EQ(reading.unknown[0].key, "surprise");
}

TEST(Accelerate, ReadsFsdp1Strategies) {
  const std::string head =
      "distributed_type: FSDP\nmixed_precision: fp16\nnum_machines: 2\nnum_processes: 16\n"
      "fsdp_config:\n  fsdp_sharding_strategy: ";
  const Layout full = read_accelerate_text(head + "FULL_SHARD\n").layout;
  EXPECT_EQ(full.zero, Zero::kParameters);
  EXPECT_EQ(full.precision, Precision::kFp16);
  EXPECT_FALSE(read_accelerate_text(head + "SHARD_GRAD_OP\n").layout.reshard_after_forward);
  EXPECT_EQ(read_accelerate_text(head + "HYBRID_SHARD\n").layout.zero_group, 8);
  EXPECT_EQ(read_accelerate_text(head + "NO_SHARD\n").layout.zero, Zero::kNone);
  EXPECT_EQ(read_accelerate_text(head + "2\n").layout.reshard_after_forward, false);
  EXPECT_EQ(read_accelerate_text(head + "ODD_SHARD\n").unresolved.size(), 1U);
}

TEST(Accelerate, ReadsDeepspeedDdpAndMegatron) {
  const Reading deepspeed = read_accelerate_text(
      "distributed_type: DEEPSPEED\nmixed_precision: bf16\nnum_machines: 1\nnum_processes: 8\n"
      "deepspeed_config:\n  gradient_accumulation_steps: 4\n  offload_optimizer_device: cpu\n"
      "  offload_param_device: none\n  zero3_init_flag: true\n  zero_stage: 3\n");
  EXPECT_EQ(describe::to_text(deepspeed.layout),
            "dp=8,zero=3,optimizer=adam:offload,overlap=grad_reduce+param_gather");
  const Reading ddp = read_accelerate_text(
      "distributed_type: MULTI_GPU\nmixed_precision: 'no'\nnum_processes: 8\n");
  EXPECT_EQ(describe::to_text(ddp.layout),
            "dp=8,precision=fp32,parameters=fp32,optimizer=adam:none:fp32:fp32,"
            "overlap=grad_reduce");
  const Reading megatron = read_accelerate_text(
      "distributed_type: MEGATRON_LM\nmixed_precision: bf16\nnum_machines: 1\nnum_processes: 8\n"
      "megatron_lm_config:\n  megatron_lm_num_micro_batches: 2\n  megatron_lm_pp_degree: 2\n"
      "  megatron_lm_recompute_activations: true\n  megatron_lm_sequence_parallelism: true\n"
      "  megatron_lm_tp_degree: 2\n  megatron_lm_use_distributed_optimizer: true\n");
  EXPECT_EQ(describe::to_text(megatron.layout),
            "tp=2,sp=1,pp=2,dp=2,zero=1,recompute=selective:core_attn");
  EXPECT_EQ(read_accelerate_text("distributed_type: DEEPSPEED\ndeepspeed_config:\n"
                                 "  deepspeed_config_file: ds.json\n")
                .unresolved.size(),
            1U);
}

TEST(Accelerate, AMeshThatDoesNotFitIsSaid) {
  const Reading reading = read_accelerate_text(
      "distributed_type: FSDP\nnum_processes: 16\nparallelism_config:\n"
      "  parallelism_config_dp_shard_size: 4\n  parallelism_config_cp_size: 2\n"
      "  parallelism_config_sp_size: 2\n");
  EXPECT_EQ(reading.unresolved.size(), 2U);
}

}  // namespace
}  // namespace sextant::emit
