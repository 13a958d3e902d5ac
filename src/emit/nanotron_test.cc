#include "emit/nanotron.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "describe/model/load_model.h"
#include "describe/model/parameters.h"
#include "emit/any_job_testing.h"
#include "emit/round_trip_testing.h"
#include "emit/tree_file.h"

namespace sextant::emit {
namespace {

Reading through_nanotron_file(const Writing& writing) {
  const auto settings = through_yaml(writing, "config.yaml");
  return settings ? read_nanotron(*settings, describe::DataStore{}) : Reading{};
}

TEST(Nanotron, WhatIsLeftOutIsExactlyWhatDiffers) {
  EXPECT_TRUE(rc::check("round trip", [] {
    for (int i = 0; i < 10; ++i) {
      const Job job = any_job(describe::Framework::kNanotron);
      const Writing writing = write_nanotron(job);
      const Reading reading = through_nanotron_file(writing);
      RC_ASSERT(layout_fields(writing.left_out) == differing_keys(job.layout, reading.layout));
      RC_ASSERT(reading.sequence == job.sequences.length);
      RC_ASSERT(reading.global_batch == job.global_batch);
      RC_ASSERT(reading.devices == job.cluster.devices);
      RC_ASSERT(reading.unresolved.empty());
      RC_ASSERT(reading.unknown.empty());
    }
  }));
}

// A job in nanotron's own words.
Job any_nanotron_job() {
  Job job = any_job(describe::Framework::kNanotron);
  Layout& at = job.layout;
  const Layout plain;
  const bool experts = describe::has_experts(job.model);
  at.vpp = 1;
  at.schedule =
      at.pp > 1 ? any::one_of<Schedule>({Schedule::k1f1b, Schedule::kGpipe}) : plain.schedule;
  at.split = {};
  at.cp_method = at.cp > 1 ? any::one_of<CpMethod>({CpMethod::kP2pRing, CpMethod::kAllGather})
                           : plain.cp_method;
  at.cp_inner = 0;
  at.zero = any::one_of<Zero>({Zero::kNone, Zero::kOptimizer});
  at.zero_group = 0;
  at.reshard_after_forward = true;
  at.recompute = {.granularity = any::one_of<Recompute>({Recompute::kNone, Recompute::kFull}),
                  .modules = {}};
  at.activation_offload = false;
  at.precision = Precision::kBf16;
  at.parameters = Storage::kBf16;
  at.gradients = Storage::kFp32;
  at.optimizer = {};
  at.attention = plain.attention;
  at.loss = plain.loss;
  at.launch = plain.launch;
  at.overlap.clear();
  if (at.dp * at.cp > 1) {
    at.overlap.push_back(Overlap::kGradReduce);
  }
  at.order = plain.order;
  job.model.blocks = {job.model.blocks.back()};
  job.model.blocks[0].mixer = Attention{.heads = 16, .kv_heads = 4, .head_dim = 32};
  job.model.hidden = 512;
  job.model.mtp_layers = 0;
  std::fill(job.model.layers.begin(), job.model.layers.end(), 0);
  if (experts) {
    job.model.blocks[0].ffn = MoeFfn{.experts = 16,
                                     .topk = 2,
                                     .width = 512,
                                     .shared_width = any::one_of<std::int64_t>({0, 512})};
    at.dispatcher = any::one_of<describe::Dispatcher>(
        {describe::Dispatcher::kAllToAll, describe::Dispatcher::kAllGather});
    at.order = {Axis::kTp, Axis::kCp, Axis::kEp, Axis::kPp, Axis::kDp};
  } else {
    job.model.blocks[0].ffn = DenseFfn{.width = 2048};
  }
  return job;
}

TEST(Nanotron, ItsOwnJobsReadBackWhole) {
  EXPECT_TRUE(rc::check("nothing is left out", [] {
    for (int i = 0; i < 10; ++i) {
      const Job job = any_nanotron_job();
      const Writing writing = write_nanotron(job);
      for (const Inexpressible& each : writing.left_out) {
        RC_FAIL(each.field + "=" + each.value + ": " + each.why);
      }
      const Reading reading = through_nanotron_file(writing);
      RC_ASSERT(reading.layout == job.layout);
      RC_ASSERT(reading.model.has_value());
      RC_ASSERT(describe::model_parameters(*reading.model).total() ==
                describe::model_parameters(job.model).total());
    }
  }));
}

// A size that the file says; 1 where it is silent.
std::int64_t size_said(const Writing& writing, std::string_view key) {
  const Setting* setting = find(writing.settings.given, key);
  return setting == nullptr ? 1 : std::stoll(setting->values.at(0));
}

// Two meshes of the same devices: dp·cp·tp·pp, and of the experts ep·etp·edp·pp.
TEST(Nanotron, BothMeshesOfAFileHoldEveryDevice) {
  EXPECT_TRUE(rc::check("products", [] {
    for (int i = 0; i < 10; ++i) {
      const Job job = any_nanotron_job();
      const Writing writing = write_nanotron(job);
      const auto said = [&](const char* key) {
        return size_said(writing, std::string("parallelism.") + key);
      };
      const std::int64_t devices = job.cluster.devices;
      RC_ASSERT(said("dp") * said("context_parallel_size") * said("tp") * said("pp") == devices);
      const std::int64_t expert_ranks =
          said("expert_parallel_size") * said("expert_tensor_parallel_size") * said("pp");
      if (describe::has_experts(job.model) && devices % expert_ranks == 0) {
        RC_ASSERT(said("expert_data_parallel_size") * expert_ranks == devices);
      }
    }
  }));
}

constexpr std::string_view kExample = R"(
checkpoints: {checkpoint_interval: 1000, checkpoints_path: checkpoints}
data_stages:
- name: Stable Training Stage
  start_training_step: 1
  data: {seed: 42, num_loading_workers: 1, dataset: {hf_dataset_or_datasets: a/b}}
general: {project: debug, run: llama, seed: 42}
logging: {iteration_step_info_interval: 1, log_level: info}
model:
  ddp_bucket_cap_mb: 25
  dtype: bfloat16
  init_method: {std: 0.025}
  make_vocab_size_divisible_by: 1
  model_config:
    hidden_act: silu
    hidden_size: 2048
    intermediate_size: 8192
    is_llama_config: true
    max_position_embeddings: 4096
    num_attention_heads: 32
    num_hidden_layers: 16
    num_key_value_heads: 8
    pad_token_id: null
    rope_scaling: null
    tie_word_embeddings: true
    use_cache: true
    vocab_size: 128256
optimizer:
  accumulate_grad_in_fp32: true
  clip_grad: 1.0
  learning_rate_scheduler: {learning_rate: 3.0e-4}
  optimizer_factory: {adam_beta1: 0.9, name: adamW, torch_adam_is_fused: true}
  zero_stage: 1
parallelism:
  dp: 4
  expert_parallel_size: 1
  pp: 2
  pp_engine: 1f1b
  recompute_layer: false
  tp: 8
  tp_linear_async_communication: true
  tp_mode: reduce_scatter
  shiny: 3
tokenizer: {tokenizer_max_length: null, tokenizer_name_or_path: robot-test/dummy}
tokens:
  batch_accumulation_per_replica: 16
  limit_test_batches: 0
  micro_batch_size: 2
  sequence_length: 4_096
  train_steps: 15
)";

TEST(Nanotron, ReadsAFileInTheStyleOfItsExamples) {
  const auto settings = parse_yaml(kExample, "config_llama.yaml", Dialect::kNanotron);
  ASSERT_TRUE(settings) << to_text(settings.error());
  const Reading reading = read_nanotron(*settings, describe::DataStore{});
  EXPECT_EQ(describe::to_text(reading.layout),
            "tp=8,sp=1,pp=2,dp=4,zero=1,mbs=2,overlap=grad_reduce+tp");
  EXPECT_EQ(reading.sequence, 4096);
  EXPECT_EQ(reading.global_batch, 2 * 16 * 4);
  EXPECT_EQ(reading.devices, 64);
  ASSERT_TRUE(reading.model);
  // Llama-3.2-1B's published count.
  EXPECT_EQ(describe::model_parameters(*reading.model).total(), 1'235'814'400);
  EXPECT_TRUE(reading.unresolved.empty());
  ASSERT_EQ(reading.unknown.size(), 1U);
  EXPECT_EQ(reading.unknown[0].key, "parallelism.shiny");
  const auto fact = std::find_if(reading.facts.begin(), reading.facts.end(),
                                 [](const Fact& each) { return each.field == "tp"; });
  ASSERT_NE(fact, reading.facts.end());
  EXPECT_EQ(fact->words, "parallelism.tp = 8");
  EXPECT_EQ(kExample.substr(fact->place.offset, fact->place.length), "8");
}

TEST(Nanotron, SilenceIsAllForwardThenAllBackward) {
  const auto settings =
      parse_yaml("parallelism: {dp: 2, tp: 2, pp: 2}\ntokens: {sequence_length: 10}\n", "a.yaml",
                 Dialect::kNanotron);
  const Reading reading = read_nanotron(*settings, describe::DataStore{});
  EXPECT_EQ(reading.layout.schedule, Schedule::kGpipe);
  EXPECT_FALSE(reading.layout.sp);
  EXPECT_FALSE(reading.global_batch);
}

TEST(Nanotron, ValuesThatAreNoNumbersAreUnresolved) {
  const auto settings = parse_yaml(
      "parallelism: {dp: many, tp: -3, pp: 1, pp_engine: zigzag}\nmodel: {dtype: int3, "
      "model_config: {hidden_size: 64}}\n",
      "a.yaml", Dialect::kNanotron);
  const Reading reading = read_nanotron(*settings, describe::DataStore{});
  EXPECT_EQ(reading.unresolved.size(), 4U);
  EXPECT_FALSE(reading.devices);
}

}  // namespace
}  // namespace sextant::emit
