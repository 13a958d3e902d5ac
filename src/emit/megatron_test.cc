#include "emit/megatron.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "describe/layout/rules.h"
#include "describe/model/load_model.h"
#include "emit/any_job_testing.h"
#include "emit/flags.h"
#include "emit/megatron_expert_layers.h"
#include "emit/megatron_pipeline_layout.h"
#include "emit/round_trip_testing.h"

namespace sextant::emit {
namespace {

Settings through_flags(const Settings& settings) {
  return through_words(settings, flag_words, parse_flags);
}

std::vector<std::string> keys_of(const std::vector<UnknownSetting>& settings) {
  std::vector<std::string> keys;
  for (const UnknownSetting& setting : settings) {
    keys.push_back(setting.key);
  }
  return keys;
}

TEST(Megatron, ReadsBackWhatItWroteButWhatItSaysIsLeftOut) {
  EXPECT_TRUE(rc::check("write, render, parse, read", [] {
    for (int i = 0; i < 20; ++i) {
      const describe::Job job = any_job(describe::Framework::kMegatronCore);
      const Writing writing = write_megatron(job);
      const Reading reading = read_megatron(through_flags(writing.settings), built_in_data());
      RC_ASSERT(differing_keys(job.layout, reading.layout) == fields_of(writing.left_out));
      RC_ASSERT(reading.sequence == job.sequences.length);
      RC_ASSERT(reading.global_batch == job.global_batch);
      RC_ASSERT(reading.devices == job.cluster.devices);
      RC_ASSERT(keys_of(reading.unknown) == std::vector<std::string>{});
      RC_ASSERT(reading.unresolved.empty());
      RC_ASSERT(reading.model->layers.size() == job.model.layers.size());
      RC_ASSERT(reading.model->vocab == job.model.vocab);
    }
  }));
}

Settings settings_of(const std::vector<std::string>& words) {
  std::vector<WordAt> at;
  for (const std::string& word : words) {
    at.push_back({word, {}});
  }
  Settings settings;
  settings.given = parse_flags(at);
  return settings;
}

// What Megatron-LM can say of a field, told without its writer: from its choices of values. `base`:
// the format that parameters have where they are not kept in 8 bits.
bool says_optimizer(const describe::Layout& at, describe::Storage base) {
  const describe::Optimizer& states = at.optimizer;
  const bool adam = states.kind == OptimizerKind::kAdam;
  const bool known =
      adam || states.kind == OptimizerKind::kSgd || states.kind == OptimizerKind::kMuon;
  const bool plain =
      !adam || (states.first_moment == Storage::kFp32 && states.second_moment == Storage::kFp32);
  const bool master = base == Storage::kFp32
                          ? states.master == Storage::kNone
                          : states.master == Storage::kFp32 ||
                                (adam && states.master == Storage::kFp16 && at.zero != Zero::kNone);
  return known && master && ((plain && !states.offload) || at.zero != Zero::kNone);
}

bool says_format(std::string_view field, const describe::Layout& at) {
  const bool fp32 = at.precision == Precision::kFp32 || at.precision == Precision::kTf32;
  const bool fp8 = at.precision == Precision::kFp8 || at.precision == Precision::kMxfp8;
  const bool quantised =
      fp8 || at.precision == Precision::kNvfp4 || at.precision == Precision::kInt8;
  const bool fp16 =
      at.precision == Precision::kFp16 || (quantised && at.parameters == Storage::kFp16);
  const Storage base = fp32 ? Storage::kFp32 : fp16 ? Storage::kFp16 : Storage::kBf16;
  if (field == "precision") {
    return at.precision != Precision::kTf32 && at.precision != Precision::kInt8;
  }
  if (field == "parameters") {
    return at.parameters == base || (fp8 && at.parameters == Storage::kFp8);
  }
  if (field == "gradients") {
    return at.gradients == Storage::kFp32 || at.gradients == base;
  }
  return field != "optimizer" || says_optimizer(at, base);
}

bool says(std::string_view field, const describe::Layout& at) {
  if (field == "schedule") {
    return at.schedule == Schedule::k1f1b || at.schedule == Schedule::kInterleaved1f1b;
  }
  if (field == "order") {
    return at.order[0] == Axis::kTp && at.order[1] == Axis::kCp && at.order[2] == Axis::kEp;
  }
  if (field == "reshard") {
    return at.reshard_after_forward;
  }
  if (field == "recompute") {
    return std::none_of(
        at.recompute.modules.begin(), at.recompute.modules.end(),
        [](RecomputeModule module) { return module >= RecomputeModule::kActivation; });
  }
  if (field == "attention") {
    return at.attention != AttentionKernel::kFlash1;
  }
  if (field == "loss") {
    return at.loss == describe::LossKernel::kPlain || at.loss == describe::LossKernel::kFused;
  }
  if (field == "compile") {
    return at.launch != describe::Launch::kCompiled;
  }
  if (field == "overlap") {
    return !at.overlaps(Overlap::kContext) && (at.vpp > 1 || !at.overlaps(Overlap::kPipeline));
  }
  return says_format(field, at);
}

void expect_left_out_or_sayable(const describe::Job& job) {
  const std::vector<std::string> left = fields_of(write_megatron(job).left_out);
  for (const describe::LayoutKey& key : describe::layout_keys()) {
    const bool is_left = std::find(left.begin(), left.end(), key.name) != left.end();
    if (is_left == says(key.name, job.layout)) {
      RC_FAIL(std::string(key.name) + " in " + describe::to_text(job.layout));
    }
  }
}

TEST(Megatron, LeavesOutWhatItHasNoWordsForAndNothingElse) {
  EXPECT_TRUE(rc::check("left out and sayable exclude each other", [] {
    for (int i = 0; i < 10; ++i) {
      expect_left_out_or_sayable(any_job(describe::Framework::kMegatronCore));
    }
  }));
}

describe::Job llama_job() {
  describe::Job job;
  job.model = *describe::load_model("llama-3.1-70b", built_in_data());
  job.cluster = *describe::load_cluster("64xh100-sxm", built_in_data());
  job.layout.tp = 4;
  job.layout.sp = true;
  job.layout.pp = 4;
  job.layout.dp = 4;
  job.layout.zero = describe::Zero::kOptimizer;
  job.layout.overlap = {describe::Overlap::kGradReduce, describe::Overlap::kParamGather};
  job.sequences.length = 8192;
  job.global_batch = 128;
  return job;
}

std::string flag_value(const std::vector<Setting>& settings, std::string_view key) {
  const Setting* found = find(settings, key);
  return found == nullptr ? "(none)" : join(found->values, " ");
}

TEST(Megatron, WritesTheFlagsAUserWouldLookFor) {
  const Writing writing = write_megatron(llama_job());
  const std::vector<Setting>& given = writing.settings.given;
  EXPECT_EQ(flag_value(given, "tensor_model_parallel_size"), "4");
  EXPECT_EQ(flag_value(given, "sequence_parallel"), "true");
  EXPECT_EQ(flag_value(given, "use_distributed_optimizer"), "true");
  EXPECT_EQ(flag_value(given, "num_layers"), "80");
  EXPECT_EQ(flag_value(given, "num_query_groups"), "8");
  EXPECT_EQ(flag_value(given, "ffn_hidden_size"), "28672");
  EXPECT_EQ(flag_value(given, "swiglu"), "true");
  EXPECT_EQ(flag_value(given, "disable_bias_linear"), "true");
  EXPECT_EQ(flag_value(given, "bf16"), "true");
  EXPECT_EQ(flag_value(given, "fp16"), "(none)");
  // NullTokenizer adds one: 128256 tokens in all.
  EXPECT_EQ(flag_value(given, "vocab_size"), "128255");
  EXPECT_TRUE(writing.left_out.empty());
  EXPECT_NE(render_flags(writing.settings).find("--tensor-model-parallel-size 4\n"),
            std::string::npos);
}

TEST(Megatron, SetsConnectionsAsTheLayoutWants) {
  describe::Job job = llama_job();
  EXPECT_EQ(flag_value(write_megatron(job).settings.environment, "CUDA_DEVICE_MAX_CONNECTIONS"),
            "1");
  job.layout.zero = describe::Zero::kParameters;  // Megatron-FSDP refuses 1
  EXPECT_EQ(flag_value(write_megatron(job).settings.environment, "CUDA_DEVICE_MAX_CONNECTIONS"),
            "8");
  EXPECT_EQ(flag_value(write_megatron(job).settings.given, "data_parallel_sharding_strategy"),
            "optim_grads_params");
}

// Megatron refuses a sequence beyond them, which a configuration may leave open or say too low.
TEST(Megatron, PositionsHoldTheSequence) {
  describe::Job job = llama_job();
  for (const std::int64_t known : std::vector<std::int64_t>{0, 1024, 131'072}) {
    job.model.max_positions = known;
    EXPECT_EQ(flag_value(write_megatron(job).settings.given, "max_position_embeddings"),
              std::to_string(std::max(known, job.sequences.length)));
  }
}

TEST(Megatron, AsManyLayersOnEveryStageAreNoListOfStages) {
  describe::Job job = llama_job();
  job.layout.split.layers_per_stage.assign(static_cast<std::size_t>(job.layout.stages()),
                                           job.model.layer_count() / job.layout.stages());
  EXPECT_EQ(fields_of(write_megatron(job).left_out), std::vector<std::string>{});
}

TEST(Megatron, NamesModelsOfTheCatalogue) {
  for (const auto* const name : {"llama-3.1-70b", "qwen3-30b-a3b", "deepseek-v3-671b", "gpt-3-175b",
                                 "mixtral-8x7b", "qwen2.5-7b", "kimi-k2-1t"}) {
    describe::Job job = llama_job();
    job.model = *describe::load_model(name, built_in_data());
    job.layout = {};
    job.layout.dp = 64;
    const Writing writing = write_megatron(job);
    EXPECT_EQ(fields_of(writing.left_out), std::vector<std::string>{}) << name;
    const Reading reading = read_megatron(through_flags(writing.settings), built_in_data());
    ASSERT_TRUE(reading.model) << name;
    EXPECT_EQ(reading.model->name, job.model.name);
  }
}

TEST(Megatron, SaysWhenAModelIsBeyondItsFlags) {
  describe::Job job = llama_job();
  job.model = *describe::load_model("nemotron-h-8b", built_in_data());
  const std::vector<std::string> left = fields_of(write_megatron(job).left_out);
  EXPECT_NE(std::find(left.begin(), left.end(), "model"), left.end());
}

TEST(Megatron, ReadsWhatMegatronDoesWhenNothingIsSaid) {
  const Reading reading = read_megatron(settings_of({}), built_in_data());
  EXPECT_EQ(reading.layout.precision, describe::Precision::kFp32);
  EXPECT_EQ(reading.layout.zero, describe::Zero::kNone);
  EXPECT_TRUE(reading.layout.overlap.empty());
  EXPECT_FALSE(reading.model);
  EXPECT_EQ(reading.unresolved.size(), 1U);
}

TEST(Megatron, ExpertsShareTheTensorParallelGroupAndGatherByDefault) {
  const Reading reading = read_megatron(
      settings_of({"--tensor-model-parallel-size", "2", "--num-experts", "8"}), built_in_data());
  EXPECT_EQ(reading.layout.etp, 2);
  EXPECT_EQ(reading.layout.dispatcher, describe::Dispatcher::kAllGather);
}

TEST(Megatron, TakesOldFlagsByTheirNewNames) {
  const Reading reading =
      read_megatron(settings_of({"--use-flash-attn", "--recompute-activations", "--use-custom-fsdp",
                                 "--model-parallel-size=4", "--moe-layer-recompute"}),
                    built_in_data());
  EXPECT_EQ(reading.layout.tp, 4);
  EXPECT_EQ(reading.layout.zero, describe::Zero::kParameters);
  EXPECT_EQ(reading.layout.recompute.granularity, describe::Recompute::kSelective);
  EXPECT_TRUE(reading.unknown.empty());
  const auto tp = std::find_if(reading.facts.begin(), reading.facts.end(),
                               [](const Fact& fact) { return fact.field == "tp"; });
  ASSERT_NE(tp, reading.facts.end());
  EXPECT_EQ(tp->value, "4");
  EXPECT_EQ(tp->words, "--model-parallel-size 4 (now --tensor-model-parallel-size 4)");
}

TEST(Megatron, ListsMistypedFlagsAsUnknown) {
  const Reading reading = read_megatron(
      settings_of({"--tensor-modle-parallel-size", "4", "--lr", "1e-4", "--mock-data"}),
      built_in_data());
  EXPECT_EQ(keys_of(reading.unknown), std::vector<std::string>{"tensor_modle_parallel_size"});
}

TEST(Megatron, ListsValuesThatAreNoNumbersAsUnresolved) {
  const Reading reading = read_megatron(
      settings_of({"--tensor-model-parallel-size", "$TP", "--pipeline-model-parallel-layout",
                   "Et|t", "--pipeline-model-parallel-size", "2"}),
      built_in_data());
  EXPECT_EQ(reading.layout.tp, 1);
  std::vector<std::string> open;
  for (const Unresolved& one : reading.unresolved) {
    open.push_back(one.what);
  }
  EXPECT_EQ(open, (std::vector<std::string>{"model", "--tensor-model-parallel-size $TP",
                                            "--pipeline-model-parallel-layout Et|t"}));
}

TEST(Megatron, ReadsDestinationsAsALogHasThem) {
  Settings settings;
  settings.given = {{"overlap_p2p_comm", {"False"}, {}},
                    {"pipeline_model_parallel_size", {"2"}, {}},
                    {"virtual_pipeline_model_parallel_size", {"3"}, {}},
                    {"recompute_modules", {"['layernorm', 'core_attn']"}, {}},
                    {"recompute_granularity", {"selective"}, {}},
                    {"fp8", {"None"}, {}},
                    {"bf16", {"True"}, {}},
                    {"attention_backend", {"AttnBackend.fused"}, {}},
                    {"world_size", {"16"}, {}}};
  const Reading reading = read_megatron(settings, built_in_data());
  EXPECT_EQ(describe::to_text(reading.layout),
            "pp=2,vpp=3,schedule=interleaved-1f1b,dp=8,recompute=selective:core_attn+layernorm,"
            "attention=cudnn");
  EXPECT_TRUE(reading.unknown.empty());
}

// "auto" is Transformer Engine's choice, and so is silence.
TEST(Megatron, AnAttentionKernelIsStatedWhereItIsNamed) {
  const auto stated = [](const std::vector<std::string>& words) {
    return read_megatron(settings_of(words), built_in_data()).attention_stated;
  };
  EXPECT_TRUE(stated({"--attention-backend", "flash"}));
  EXPECT_TRUE(stated({"--attention-backend", "fused"}));
  EXPECT_TRUE(stated({"--use-flash-attn"}));
  EXPECT_FALSE(stated({"--attention-backend", "auto"}));
  EXPECT_FALSE(stated({"--attention-backend", "best"}));
  EXPECT_FALSE(stated({"--transformer-impl", "transformer_engine"}));
  EXPECT_FALSE(stated({}));
}

TEST(Megatron, ReadsFirstAndLastStageCounts) {
  // 30 layers over 4 ranks with 6 and 4 at the ends: 10 each in the middle.
  const Reading reading =
      read_megatron(settings_of({"--num-layers", "30", "--pipeline-model-parallel-size", "4",
                                 "--decoder-first-pipeline-num-layers", "6",
                                 "--decoder-last-pipeline-num-layers", "4"}),
                    built_in_data());
  EXPECT_EQ(reading.layout.split.layers_per_stage, (std::vector<std::int64_t>{6, 10, 10, 4}));
}

TEST(PipelineLayout, ReadsRepetitionsAndIgnoresCommas) {
  EXPECT_EQ(*parse_pipeline_layout("Et*3|(t|)*2,L"), (std::vector<std::int64_t>{3, 1, 1, 0}));
  EXPECT_EQ(*parse_pipeline_layout("E|(t|)*3,m|m||L"),
            (std::vector<std::int64_t>{0, 1, 1, 1, 0, 0, 0, 0}));
}

TEST(PipelineLayout, RefusesWhatIsNone) {
  for (const auto* const text :
       {"", "tt|t", "EtL|t", "Et|L|L", "E(t|L", "Et)L", "Ex|L", "Et*|L", "E(((((((((t)))))))))L",
        "Et*99999999|L", "E((t*999)*999)*999|L"}) {
    EXPECT_FALSE(parse_pipeline_layout(text)) << text;
  }
}

TEST(PipelineLayout, ReadsBackWhatItWrote) {
  EXPECT_TRUE(rc::check("any stages", [] {
    const auto stages =
        *rc::gen::suchThat(rc::gen::container<std::vector<std::int64_t>>(
                               rc::gen::elementOf(std::vector<std::int64_t>{0, 1, 2, 2, 12})),
                           [](const std::vector<std::int64_t>& some) { return !some.empty(); });
    const std::int64_t extra = *rc::gen::inRange(0, 3);
    RC_ASSERT(*parse_pipeline_layout(pipeline_layout_text(stages, extra)) == stages);
  }));
}

TEST(ExpertLayers, ReadsNumbersAndLists) {
  EXPECT_EQ(*parse_expert_layers("2", 4), (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(*parse_expert_layers("([0]*1+[1]*3)", 4), (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(*parse_expert_layers("[0,1]*2", 4), (std::vector<bool>{false, true, false, true}));
  for (const auto* const text : {"", "0", "[2]*4", "[0]*3", "[0]*99999999", "[]", "(1"}) {
    EXPECT_FALSE(parse_expert_layers(text, 4)) << text;
  }
}

TEST(Flags, KnowsSwitchesListsAndNegativeNumbers) {
  const std::vector<WordAt> words{{"pretrain_gpt.py", {}},
                                  {"--cp-comm-type", {}},
                                  {"a2a", {"x.sh", 3, 20, 3}},
                                  {"p2p", {"x.sh", 3, 24, 3}},
                                  {"--no-rope-fusion", {"x.sh", 4, 30, 16}},
                                  {"--seed=-1", {"x.sh", 5, 50, 9}}};
  const std::vector<Setting> settings = parse_flags(words);
  ASSERT_EQ(settings.size(), 3U);
  EXPECT_EQ(settings[0].values, (std::vector<std::string>{"a2a", "p2p"}));
  EXPECT_EQ(settings[0].place.length, 0U);
  EXPECT_EQ(settings[1].key, "no_rope_fusion");
  EXPECT_EQ(settings[1].values, std::vector<std::string>{"true"});
  EXPECT_EQ(settings[2].values, std::vector<std::string>{"-1"});
  EXPECT_EQ(settings[2].place.offset, 57U);  // after "--seed="
  EXPECT_EQ(settings[2].place.length, 2U);
}

}  // namespace
}  // namespace sextant::emit
