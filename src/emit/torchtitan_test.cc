#include "emit/torchtitan.h"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "describe/cluster/load_cluster.h"
#include "describe/layout/layout_text.h"
#include "describe/model/load_model.h"
#include "emit/any_job_testing.h"
#include "emit/python_recipe.h"
#include "emit/round_trip_testing.h"
#include "emit/torchtitan_models.h"

namespace sextant::emit {
namespace {

Job job_of(std::string_view model, std::string_view layout, std::int64_t devices) {
  Job job;
  job.model = *describe::load_model(model, describe::DataStore());
  job.framework = describe::Framework::kTorchtitan;
  job.cluster = *describe::load_cluster("8xh100-sxm", describe::DataStore());
  job.cluster.devices = devices;
  job.layout = describe::parse_layout(layout, describe::Framework::kTorchtitan)->layout;
  job.sequences.length = 8192;
  job.global_batch = 64;
  return job;
}

std::string said(const Settings& settings, std::string_view key) {
  const Setting* setting = find(settings.given, key);
  return setting == nullptr ? "(absent)" : join(setting->values, "|");
}

// Whatever else is left out, torchtitan has words for these.
void expect_spoken(const std::vector<std::string>& keys, const Job& job) {
  const std::set<std::string> silent(keys.begin(), keys.end());
  for (const char* key : {"tp", "cp", "pp", "ep", "dp", "mbs", "reshard"}) {
    RC_ASSERT(!silent.contains(key));
  }
  if (job.layout.schedule != Schedule::kDualPipe) {
    RC_ASSERT(!silent.contains("vpp"));
    RC_ASSERT(!silent.contains("schedule"));
    RC_ASSERT(!silent.contains("layers_per_stage"));
  }
  if (job.layout.zero == Zero::kParameters) {
    RC_ASSERT(!silent.contains("zero"));
  }
  if (job.layout.zero == Zero::kNone && job.layout.cp == 1) {
    RC_ASSERT(!silent.contains("zero"));
    RC_ASSERT(!silent.contains("zero_group"));
  }
  if (job.layout.recompute.granularity == Recompute::kNone) {
    RC_ASSERT(!silent.contains("recompute"));
  }
  RC_ASSERT(silent.contains("attention") == (job.layout.attention != AttentionKernel::kFlash));
  RC_ASSERT(silent.contains("etp") || job.layout.etp == 1 || job.layout.etp == job.layout.tp);
  RC_ASSERT(silent.contains("activation_offload") == job.layout.activation_offload);
  RC_ASSERT(silent.contains("dispatcher") ==
            (job.layout.dispatcher == describe::Dispatcher::kAllGather));
}

template <typename Write, typename Read>
void torchtitan_round_trip(Write write, Read read) {
  const Job job = any_job(describe::Framework::kTorchtitan);
  const Writing writing = write(job);
  const Reading reading = read(writing.settings, describe::DataStore());
  const std::vector<std::string> keys = layout_fields(writing.left_out);
  RC_ASSERT(differing_keys(job.layout, reading.layout) == keys);
  RC_ASSERT(reading.sequence == job.sequences.length);
  RC_ASSERT(reading.global_batch == job.global_batch);
  RC_ASSERT(reading.devices == job.cluster.devices);
  RC_ASSERT(reading.unknown.empty());
  expect_spoken(keys, job);
}

RC_GTEST_PROP(Torchtitan, WhatIsWrittenReadsBackButForWhatIsLeftOut, ()) {
  for (int i = 0; i < 20; ++i) {
    torchtitan_round_trip(write_torchtitan, read_torchtitan);
  }
}

RC_GTEST_PROP(TorchtitanToml, WhatIsWrittenReadsBackButForWhatIsLeftOut, ()) {
  for (int i = 0; i < 20; ++i) {
    torchtitan_round_trip(write_torchtitan_toml, read_torchtitan_toml);
  }
}

TEST(Torchtitan, EveryKnownModelIsInTheCatalogue) {
  const TorchtitanNames names = torchtitan_names(describe::DataStore());
  EXPECT_GE(names.models.size(), 20U);
  EXPECT_GE(names.recipes.size(), 10U);
  for (const TorchtitanModel& model : names.models) {
    const auto loaded = describe::load_model(model.catalogue, describe::DataStore());
    ASSERT_TRUE(loaded) << model.catalogue;
    EXPECT_EQ(names.flavor_of(*loaded), &model);
  }
}

// 80 layers with the embedding and the head counted are 82 places: 41 stages of 2 do not divide
// over pp=4, so the split is even and vpp=5 needs layers_per_stage = 80 / 20.
TEST(Torchtitan, AJobOfAKnownModelLeavesNothingOut) {
  const Job job = job_of("llama-3.1-70b",
                         "tp=8,pp=4,vpp=5,dp=2,mbs=1,recompute=full,loss=chunked,reshard=0", 64);
  const Writing writing = write_torchtitan(job);
  EXPECT_TRUE(writing.left_out.empty())
      << writing.left_out[0].field << ": " << writing.left_out[0].why;
  EXPECT_EQ(said(writing.settings, "model.name"), "llama3");
  EXPECT_EQ(said(writing.settings, "model.flavor"), "70B");
  EXPECT_EQ(said(writing.settings, "parallelism.pipeline_parallel_schedule"), "Interleaved1F1B");
  EXPECT_EQ(said(writing.settings, "parallelism.pipeline_parallel_layers_per_stage"), "4");
  EXPECT_EQ(said(writing.settings, "parallelism.num_pp_microbatches"), "32");  // 64 / dp=2
  EXPECT_EQ(said(writing.settings, "training.num_tokens_per_microbatch_per_dp_rank"), "8192");
  EXPECT_EQ(said(writing.settings, "training.num_tokens_per_train_step"), "524288");  // 64 · 8192
  auto parsed = parse_python_recipe(render_python_recipe(writing.settings, {}), "recipe.py");
  ASSERT_TRUE(parsed);
  parsed->launch = writing.settings.launch;
  const Reading reading = read_torchtitan(*parsed, describe::DataStore());
  EXPECT_EQ(describe::to_text(reading.layout), describe::to_text(job.layout));
  ASSERT_TRUE(reading.model);
  EXPECT_EQ(reading.model->name, "Llama-3.1-70B");
  EXPECT_EQ(reading.global_batch, 64);
  EXPECT_TRUE(reading.unresolved.empty());
}

// torchtitan's own split of 126 layers over 8 stages: 128 places, 16 each, one less at the ends.
TEST(Torchtitan, SilentSettingsAreTheFrameworksOwn) {
  Settings settings;
  settings.dialect = Dialect::kTorchtitan;
  settings.launch = {{"devices", {"512"}, {}}};
  for (const auto& [key, value] : {std::pair<const char*, const char*>{"config", "llama3_405b"},
                                   {"parallelism.pipeline_parallel_degree", "8"},
                                   {"training.disable_cuda_graphs", "true"}}) {
    settings.given.push_back({key, {value}, {}});
  }
  const Reading reading = read_torchtitan(settings, describe::DataStore());
  ASSERT_TRUE(reading.model);
  EXPECT_EQ(reading.model->name, "Llama-3.1-405B");
  const Layout& at = reading.layout;
  EXPECT_EQ(at.tp, 8);
  EXPECT_EQ(at.dp, 8);
  EXPECT_EQ(at.mbs, 2);
  EXPECT_TRUE(at.split.count_embedding && at.split.count_loss);
  EXPECT_EQ(at.schedule, Schedule::k1f1b);
  EXPECT_EQ(at.precision, Precision::kFp8);
  EXPECT_EQ(at.launch, describe::Launch::kCompiled);
  EXPECT_TRUE(at.overlaps(Overlap::kTensorParallel));
  EXPECT_FALSE(at.reshard_after_forward);  // "default" keeps parameters under a pipeline
  EXPECT_EQ(reading.global_batch, 16);     // 2 sequences, 1 microbatch, dp=8
}

// Sources: torchtitan main, config/configs.py: max_context_length 2048, 16384 tokens a microbatch;
// 0.2.2, config/job_config.py: seq_len 2048, local_batch_size 8.
TEST(Torchtitan, SilenceAboutTheBatchIsItsDefault) {
  Settings settings;
  settings.launch = {{"devices", {"16"}, {}}};
  settings.given = {{"model.name", {"llama3"}, {}},
                    {"model.flavor", {"8B"}, {}},
                    {"parallelism.tensor_parallel_degree", {"2"}, {}}};
  const Reading main = read_torchtitan(settings, describe::DataStore());
  EXPECT_EQ(main.sequence, 2048);
  EXPECT_EQ(main.layout.mbs, 8);     // 16384 / 2048
  EXPECT_EQ(main.global_batch, 64);  // · dp=8
  const Reading old = read_torchtitan_toml(settings, describe::DataStore());
  EXPECT_EQ(old.sequence, 2048);
  EXPECT_EQ(old.layout.mbs, 8);
  EXPECT_EQ(old.global_batch, 64);
  settings.given.push_back({"training.max_context_length", {"4096"}, {}});
  EXPECT_EQ(read_torchtitan(settings, describe::DataStore()).layout.mbs, 4);  // 16384 / 4096
}

// A pipeline cuts the 8 of 0.2.2 into microbatches of one.
TEST(TorchtitanToml, SilenceAboutMicrobatchesIsOneSequence) {
  Settings settings;
  settings.launch = {{"devices", {"16"}, {}}};
  settings.given = {{"parallelism.pipeline_parallel_degree", {"2"}, {}}};
  const Reading reading = read_torchtitan_toml(settings, describe::DataStore());
  EXPECT_EQ(reading.layout.mbs, 1);
  EXPECT_EQ(reading.global_batch, 64);  // 8 · dp=8
}

// 32 layers + 2 over 3 stages: 34 = 12 + 11 + 11, less one at each end: 11, 11, 10.
TEST(Torchtitan, UnevenStagesAreDealtAsItDealsThem) {
  Settings settings;
  settings.given = {{"model.name", {"llama3"}, {}},
                    {"model.flavor", {"8B"}, {}},
                    {"parallelism.pipeline_parallel_degree", {"3"}, {}},
                    {"training.disable_cuda_graphs", {"true"}, {}}};
  const Reading reading = read_torchtitan(settings, describe::DataStore());
  EXPECT_EQ(reading.layout.split.layers_per_stage, (std::vector<std::int64_t>{11, 11, 10}));
  EXPECT_EQ(reading.layout.dp, 0);
  EXPECT_FALSE(reading.global_batch);
}

TEST(Torchtitan, WhatItCannotSayIsNamed) {
  const Job job = job_of("llama-3.1-8b", "tp=2,dp=4,zero=1,attention=cudnn,overlap=tp", 8);
  std::set<std::string> fields;
  for (const Inexpressible& one : write_torchtitan(job).left_out) {
    EXPECT_FALSE(one.why.empty());
    fields.insert(one.field);
  }
  EXPECT_EQ(fields, (std::set<std::string>{"zero", "attention", "overlap"}));
}

TEST(Torchtitan, OverridesAreSettings) {
  std::vector<WordAt> words;
  for (const char* word : {"train.py", "--module", "llama3", "--config=llama3_8b",
                           "--parallelism.tensor-parallel-degree", "4", "--compile.enable",
                           "--parallelism.no-enable-sequence-parallel", "--compile.components",
                           "model,loss", "--parallelism.data_parallel_shard_degree", "-1"}) {
    words.push_back({word, {}});
  }
  Settings settings;
  settings.given = torchtitan_overrides(words);
  settings.launch = {{"devices", {"8"}, {}}};
  EXPECT_EQ(said(settings, "config"), "llama3_8b");
  EXPECT_EQ(said(settings, "parallelism.tensor_parallel_degree"), "4");
  EXPECT_EQ(said(settings, "compile.enable"), "true");
  EXPECT_EQ(said(settings, "parallelism.enable_sequence_parallel"), "false");
  EXPECT_EQ(said(settings, "compile.components"), "model|loss");
  EXPECT_EQ(said(settings, "parallelism.data_parallel_shard_degree"), "-1");
  const Reading reading = read_torchtitan(settings, describe::DataStore());
  EXPECT_EQ(reading.layout.dp, 2);
  EXPECT_FALSE(reading.layout.sp);
  EXPECT_EQ(reading.sequence, 8192);
  EXPECT_TRUE(reading.unknown.empty());
}

TEST(Torchtitan, KeysItDoesNotHaveAreUnknown) {
  Settings settings;
  settings.given = {{"parallelism.tensor_parallel_size", {"4"}, {}},
                    {"optimizer.lr", {"1"}, {}},
                    {"training.seq_len", {"4096"}, {}}};
  const Reading reading = read_torchtitan(settings, describe::DataStore());
  ASSERT_EQ(reading.unknown.size(), 2U);
  EXPECT_EQ(reading.unknown[1].key, "training.seq_len");
  EXPECT_EQ(read_torchtitan_toml(settings, describe::DataStore()).unknown.size(), 1U);
}

}  // namespace
}  // namespace sextant::emit
