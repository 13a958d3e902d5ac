#include "emit/bridge.h"

#include <gtest/gtest.h>

#include "describe/layout/rules.h"
#include "describe/model/load_model.h"
#include "emit/any_job_testing.h"
#include "emit/round_trip_testing.h"

namespace sextant::emit {
namespace {

Settings through_overrides(const Settings& settings) {
  return through_words(settings, override_words, parse_overrides);
}

TEST(Bridge, ReadsBackWhatItWroteButWhatItSaysIsLeftOut) {
  EXPECT_TRUE(rc::check("write, render, parse, read", [] {
    for (int i = 0; i < 20; ++i) {
      const describe::Job job = any_job(describe::Framework::kMegatronCore);
      const Writing writing = write_bridge(job);
      const Reading reading = read_bridge(through_overrides(writing.settings), built_in_data());
      RC_ASSERT(differing_keys(job.layout, reading.layout) == fields_of(writing.left_out));
      RC_ASSERT(reading.sequence == job.sequences.length);
      RC_ASSERT(reading.global_batch == job.global_batch);
      RC_ASSERT(reading.devices == job.cluster.devices);
      RC_ASSERT(reading.unknown.empty());
      RC_ASSERT(reading.unresolved.empty());
    }
  }));
}

TEST(Bridge, WritesListsAndStagesAsHydraTakesThem) {
  EXPECT_TRUE(rc::check("brackets and quotes", [] {
    describe::Job job = any_job(describe::Framework::kMegatronCore);
    job.layout.recompute = {.granularity = describe::Recompute::kSelective,
                            .modules = {describe::RecomputeModule::kCoreAttention}};
    const Writing writing = write_bridge(job);
    const Setting* modules = find(writing.settings.given, "model.recompute_modules");
    RC_ASSERT(override_words(*modules).front() == "model.recompute_modules=[core_attn]");
    const Setting* stages = find(writing.settings.given, "model.pipeline_model_parallel_layout");
    const bool uneven = !job.layout.split.layers_per_stage.empty();
    RC_ASSERT(stages->values.front().starts_with(uneven ? "'E" : "null"));
  }));
}

TEST(Bridge, ARecipeUnderneathChangesNothingThatWasWritten) {
  EXPECT_TRUE(rc::check("a recipe of the model is named", [] {
    describe::Job job = any_job(describe::Framework::kMegatronCore);
    job.model.name = "Llama-3.1-405B";
    const Writing writing = write_bridge(job);
    RC_ASSERT(writing.settings.given.front().key == "recipe");
    const Reading reading = read_bridge(through_overrides(writing.settings), built_in_data());
    RC_ASSERT(differing_keys(job.layout, reading.layout) == fields_of(writing.left_out));
  }));
}

Settings overrides(const std::vector<std::string>& words) {
  std::vector<WordAt> at;
  for (const std::string& word : words) {
    at.push_back({word, {}});
  }
  Settings settings;
  settings.dialect = Dialect::kBridge;
  settings.given = parse_overrides(at);
  return settings;
}

TEST(Bridge, ReadsAJobFromARecipesNameAlone) {
  const Reading reading = read_bridge(
      overrides({"--recipe", "llama31_405b_pretrain_512gpu_h100_bf16_config"}), built_in_data());
  ASSERT_TRUE(reading.model);
  EXPECT_EQ(reading.model->name, "Llama-3.1-405B");
  EXPECT_EQ(reading.devices, 512);
  EXPECT_EQ(reading.sequence, 8192);
  EXPECT_TRUE(reading.unresolved.empty());
  EXPECT_EQ(reading.layout.zero, describe::Zero::kOptimizer);
  EXPECT_EQ(reading.layout.stages(), 64);  // pp 8, vpp 8, embedding and loss counted
  EXPECT_TRUE(reading.layout.split.count_loss);
}

TEST(Bridge, OverridesStandOverTheRecipe) {
  const Reading reading =
      read_bridge(overrides({"--recipe=llama31_405b_pretrain_512gpu_h100_bf16_config",
                             "model.tensor_model_parallel_size=8", "++train.micro_batch_size=2",
                             "model.recompute_granularity=selective",
                             "model.recompute_modules=[core_attn,layernorm]"}),
                  built_in_data());
  EXPECT_EQ(reading.layout.tp, 8);
  EXPECT_EQ(reading.layout.mbs, 2);
  EXPECT_EQ(reading.layout.recompute.modules.size(), 2U);
}

TEST(Bridge, SaysThatARecipeOrASectionIsNotKnown) {
  const Reading reading = read_bridge(overrides({"--recipe", "my_own_config", "modle.num_layers=3",
                                                 "model.some_new_field=1", "mixed_precision=bf17"}),
                                      built_in_data());
  ASSERT_EQ(reading.unknown.size(), 1U);
  EXPECT_EQ(reading.unknown[0].key, "modle.num_layers");
  EXPECT_EQ(reading.unresolved.size(), 3U);  // recipe, model, mixed_precision
}

TEST(Bridge, ReadsTheMixedPrecisionOfARunConfig) {
  const Reading reading = read_bridge(
      overrides({"mixed_precision.bf16=true", "mixed_precision.fp8=e4m3",
                 "mixed_precision.fp8_recipe=mxfp8", "mixed_precision.fp8_param_gather=true",
                 "mixed_precision.grad_reduce_in_fp32=false"}),
      built_in_data());
  EXPECT_EQ(reading.layout.precision, describe::Precision::kMxfp8);
  EXPECT_EQ(reading.layout.parameters, describe::Storage::kFp8);
  EXPECT_EQ(reading.layout.gradients, describe::Storage::kBf16);
}

}  // namespace
}  // namespace sextant::emit
