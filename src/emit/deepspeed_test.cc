#include "emit/deepspeed.h"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "emit/any_job_testing.h"
#include "emit/round_trip_testing.h"
#include "emit/tree_file.h"

namespace sextant::emit {
namespace {

Reading read_json(std::string_view json, std::int64_t devices) {
  auto settings = parse_json(json, "ds_config.json", Dialect::kDeepspeed);
  EXPECT_TRUE(settings) << to_text(settings.error());
  settings->launch = {{"devices", {std::to_string(devices)}, {}}};
  return read_deepspeed(*settings, describe::DataStore());
}

void deepspeed_round_trip() {
  const Job job = any_job(describe::Framework::kDeepspeed);
  const Writing writing = write_deepspeed(job);
  auto settings = parse_json(render_json(writing.settings), "ds.json", Dialect::kDeepspeed);
  RC_ASSERT(settings.has_value());
  settings->launch = writing.settings.launch;
  const Reading reading = read_deepspeed(*settings, describe::DataStore());
  std::set<std::string> keys;
  for (const Inexpressible& one : writing.left_out) {
    keys.insert(one.field);
  }
  const std::vector<std::string> differing = differing_keys(job.layout, reading.layout);
  RC_ASSERT(std::set<std::string>(differing.begin(), differing.end()) == keys);
  RC_ASSERT(reading.global_batch == job.global_batch);
  RC_ASSERT(reading.devices == job.cluster.devices);
  RC_ASSERT(reading.unknown.empty());
  for (const char* key : {"tp", "cp", "ep", "zero", "mbs"}) {
    RC_ASSERT(!keys.contains(key));
  }
  RC_ASSERT(keys.contains("pp") == (job.layout.pp > 1));
  RC_ASSERT(keys.contains("dp") == (job.layout.pp > 1));
  RC_ASSERT(keys.contains("sp") == job.layout.sp);
  RC_ASSERT(keys.contains("etp") == (job.layout.etp > 1));
}

RC_GTEST_PROP(Deepspeed, WhatIsWrittenReadsBackButForWhatIsLeftOut, ()) {
  for (int i = 0; i < 20; ++i) {
    deepspeed_round_trip();
  }
}

TEST(Deepspeed, AUsualFileReadsAsAJob) {
  const Reading reading = read_json(R"({
    // ZeRO 3 with the optimizer on the host
    "train_batch_size": 256,
    "train_micro_batch_size_per_gpu": 4,
    "zero_optimization": {
      "stage": 3,
      "contiguous_gradients": true,
      "stage3_prefetch_bucket_size": 5e7,
      "offload_optimizer": {"device": "cpu", "pin_memory": true}
    },
    "bf16": {"enabled": true},
    "gradient_clipping": 1.0,
    "wall_clock_breakdown": false
  })",
                                    16);
  EXPECT_EQ(reading.layout.zero, Zero::kParameters);
  EXPECT_EQ(reading.layout.dp, 16);
  EXPECT_EQ(reading.layout.mbs, 4);
  EXPECT_EQ(reading.global_batch, 256);
  EXPECT_EQ(reading.layout.precision, Precision::kBf16);
  EXPECT_EQ(reading.layout.gradients, Storage::kBf16);
  EXPECT_TRUE(reading.layout.optimizer.offload);
  EXPECT_EQ(reading.layout.overlap,
            (std::vector<Overlap>{Overlap::kGradReduce, Overlap::kParamGather}));
  EXPECT_FALSE(reading.model);
  EXPECT_FALSE(reading.sequence);
  EXPECT_TRUE(reading.unresolved.empty());
  EXPECT_TRUE(reading.unknown.empty());
}

TEST(Deepspeed, AnyTwoBatchNumbersGiveTheThird) {
  // 8 devices: 64 = 2 · 4 · 8.
  for (const char* json :
       {R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2})",
        R"({"train_batch_size": 64, "gradient_accumulation_steps": 4})",
        R"({"train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4})"}) {
    const Reading reading = read_json(json, 8);
    EXPECT_EQ(reading.layout.mbs, 2) << json;
    EXPECT_EQ(reading.global_batch, 64) << json;
    EXPECT_TRUE(reading.unresolved.empty()) << json;
  }
  const Reading wrong = read_json(R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2,
                                 "gradient_accumulation_steps": 3})",
                                  8);
  ASSERT_EQ(wrong.unresolved.size(), 1U);
  EXPECT_NE(wrong.unresolved[0].why.find("refuses"), std::string::npos);
}

TEST(Deepspeed, AutoIsLeftOpen) {
  const Reading reading = read_json(R"({"train_micro_batch_size_per_gpu": "auto",
      "gradient_accumulation_steps": "auto", "bf16": {"enabled": "auto"},
      "zero_optimization": {"stage": 2}})",
                                    8);
  std::set<std::string> open;
  for (const Unresolved& one : reading.unresolved) {
    open.insert(one.what);
  }
  EXPECT_TRUE(open.contains("train_micro_batch_size_per_gpu = auto"));
  EXPECT_TRUE(open.contains("gradient_accumulation_steps = auto"));
  EXPECT_TRUE(open.contains("bf16.enabled = auto"));
  EXPECT_FALSE(reading.global_batch);
  EXPECT_EQ(reading.layout.zero, Zero::kGradients);
}

TEST(Deepspeed, WhatALayoutCannotHoldIsSaid) {
  const Reading reading = read_json(R"({"train_micro_batch_size_per_gpu": 1, "unheard_of": {"a": 1},
      "zero_optimization": {"stage": 3, "zero_hpz_partition_size": 8,
                            "offload_param": {"device": "nvme"}},
      "tensor_parallel": {"autotp_size": 2}, "sequence_parallel_size": 2})",
                                    16);
  EXPECT_EQ(reading.unresolved.size(), 2U);
  ASSERT_EQ(reading.unknown.size(), 1U);
  EXPECT_EQ(reading.unknown[0].key, "unheard_of.a");
  EXPECT_EQ(reading.layout.tp, 2);
  EXPECT_EQ(reading.layout.cp, 2);
  EXPECT_EQ(reading.layout.cp_method, CpMethod::kAllToAll);
  EXPECT_EQ(reading.layout.dp, 4);
}

TEST(Deepspeed, CheckpointingThatAsksForNothingIsOff) {
  const Reading off = read_json(R"({"train_micro_batch_size_per_gpu": 1, "activation_checkpointing":
      {"partition_activations": false, "cpu_checkpointing": false}})",
                                1);
  EXPECT_EQ(off.layout.recompute.granularity, Recompute::kNone);
  const Reading on = read_json(R"({"train_micro_batch_size_per_gpu": 1, "activation_checkpointing":
      {"partition_activations": true, "cpu_checkpointing": true}})",
                               1);
  EXPECT_EQ(on.layout.recompute.granularity, Recompute::kFull);
  EXPECT_TRUE(on.layout.activation_offload);
}

}  // namespace
}  // namespace sextant::emit
