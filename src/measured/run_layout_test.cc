// A runs row in, a layout out: each rule for what a row does not state.
#include "measured/run_layout.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "measured/run_words.h"

namespace sextant::measured {
namespace {

using describe::Framework;
using describe::Layout;
using describe::RecomputeModule;

describe::Model dense(std::int64_t layers) {
  describe::Model model;
  model.hidden = 1024;
  model.vocab = 32000;
  describe::Block block;
  block.mixer = describe::Attention{.heads = 16, .kv_heads = 16, .head_dim = 64};
  block.ffn = describe::DenseFfn{.width = 4096};
  model.blocks.push_back(block);
  model.layers.assign(static_cast<std::size_t>(layers), 0);
  return model;
}

RunCells megatron_run() {
  RunCells run;
  run.framework = "Megatron-Core (dev/main)";
  run.date = "2025";
  run.devices = 64;
  run.tp = 4;
  run.pp = 2;
  run.global_batch = 64;
  run.micro_batch = 1.0;
  run.seq = 4096;
  run.precision_kind = "bf16";
  run.recompute_kind = "none";
  return run;
}

bool lists(const describe::Assumptions& assumed, std::string_view part) {
  return describe::to_text(assumed).find(part) != std::string::npos;
}

TEST(RunWords, FrameworksByTheLongerName) {
  const std::vector<std::pair<std::string, Framework>> cases{
      {"Megatron-DeepSpeed (BigScience fork, Feb 2022)", Framework::kMegatronDeepspeed},
      {"NeMo AutoModel (PyTorch FSDP2/DTensor)", Framework::kTorchtitan},
      {"NVIDIA NeMo Framework Release 25.09", Framework::kMegatronCore},
      {"PyTorch NVIDIA Release 23.09", Framework::kMegatronCore},
      {"llm-foundry/Composer FSDP (git v0.0.4 era)", Framework::kFsdp1},
      {"fms-fsdp (PyTorch FSDP + torch.compile)", Framework::kFsdp1},
      {"Paxml (JAX-Toolbox 24.04)", Framework::kMaxtext},
      {"DeepSpeed ZeRO-3", Framework::kDeepspeed},
      {"torchtune full_finetune_single_device", Framework::kTorchtitan},
      {"Colossal-AI", Framework::kOther}};
  for (const auto& [text, framework] : cases) {
    EXPECT_EQ(framework_of(text, "").framework, framework) << text;
  }
  EXPECT_TRUE(framework_of("torchtitan", "").literal);
  EXPECT_FALSE(framework_of("NeMo 25.04 container", "").literal);
  EXPECT_EQ(framework_of("PyTorch", "TP_COMM_OVERLAP=1").framework, Framework::kMegatronCore);
}

TEST(RunWords, FlagsByKeyAndByMention) {
  const Flags flags("TP_COMM_OVERLAP=True; a b c; FP8_DPA=0");
  EXPECT_EQ(flags.on("tp_comm_overlap"), true);
  EXPECT_EQ(flags.on("FP8_DPA"), false);
  EXPECT_FALSE(flags.on("OTHER"));
  EXPECT_TRUE(flags.mention("B C"));
}

TEST(RunWords, YearsOfDatesAndContainers) {
  EXPECT_EQ(year_of("2021-04"), 2021);
  EXPECT_EQ(year_of("NeMo 26.04.01"), 2026);
  EXPECT_EQ(year_of("v24.11.1"), 2024);
  EXPECT_FALSE(year_of("MLPerf Training v5.1"));
  EXPECT_FALSE(year_of(""));
  EXPECT_TRUE(is_since("NeMo 25.09", {2025, 9}));
  EXPECT_TRUE(is_since("2025-10", {2025, 9}));
  EXPECT_TRUE(is_since("2025", {2025, 9}));  // which half of the year is not said
  EXPECT_TRUE(is_since("2025-2026", {2025, 9}));
  EXPECT_FALSE(is_since("25.08.01", {2025, 9}));
  EXPECT_FALSE(is_since("2025-03", {2025, 9}));
  EXPECT_FALSE(is_since("MLPerf Training v5.1", {2025, 9}));
}

TEST(RunLayout, StatedAxesAreTaken) {
  RunCells run = megatron_run();
  run.vpp = 4;
  run.cp = 2;
  run.dp = 4;
  const RunLayout out = run_layout(run, dense(16));
  EXPECT_EQ(out.layout.tp, 4);
  EXPECT_EQ(out.layout.cp, 2);
  EXPECT_EQ(out.layout.vpp, 4);
  EXPECT_EQ(out.layout.schedule, describe::Schedule::kInterleaved1f1b);
  EXPECT_TRUE(out.refusal.empty());
}

TEST(RunLayout, WithoutTensorParallelSizeOnlyShardedRowsGoOn) {
  RunCells run = megatron_run();
  run.tp.reset();
  EXPECT_EQ(run_layout(run, dense(16)).refusal, "layout not stated: tp");
  run.zero = 3;
  EXPECT_EQ(run_layout(run, dense(16)).layout.tp, 1);
}

TEST(RunLayout, SequenceParallelismFollowsTheFrameworkAndItsAge) {
  RunCells run = megatron_run();
  EXPECT_TRUE(run_layout(run, dense(16)).layout.sp);
  run.date = "2021-04";
  EXPECT_FALSE(run_layout(run, dense(16)).layout.sp);
  run.flags = "SEQ_PARALLEL=True";
  EXPECT_TRUE(run_layout(run, dense(16)).layout.sp);
  run.sp = false;
  EXPECT_FALSE(run_layout(run, dense(16)).layout.sp);
}

TEST(RunLayout, MicroBatchOnTpusIsAChips) {
  RunCells run = megatron_run();
  run.framework = "MaxText";
  run.pp.reset();
  run.tp = 4;
  run.micro_batch = 6.0;  // a chip: 64 chips, 384 sequences, dp = 16
  run.global_batch = 384;
  const RunLayout out = run_layout(run, dense(16));
  EXPECT_EQ(out.layout.mbs, 24);
  EXPECT_TRUE(lists(out.assumed, "a chip"));
}

TEST(RunLayout, MicroBatchFollowsFromAccumulation) {
  RunCells run = megatron_run();
  run.micro_batch.reset();
  run.grad_accum = 4.0;  // dp = 8: 64 / 8 / 4
  EXPECT_EQ(run_layout(run, dense(16)).layout.mbs, 2);
  run.grad_accum.reset();
  EXPECT_EQ(run_layout(run, dense(16)).layout.mbs, 1);
}

TEST(RunLayout, FlagsSwitchOverlapsGraphsAndDispatchers) {
  RunCells run = megatron_run();
  run.flags = "TP_COMM_OVERLAP=1; OVERLAP_PARAM_GATHER=False; MCORE_CUDA_GRAPH=1; DeepEP";
  const Layout layout = run_layout(run, dense(16)).layout;
  EXPECT_TRUE(layout.overlaps(describe::Overlap::kTensorParallel));
  EXPECT_TRUE(layout.overlaps(describe::Overlap::kGradReduce));
  EXPECT_FALSE(layout.overlaps(describe::Overlap::kParamGather));
  EXPECT_EQ(layout.launch, describe::Launch::kCudaGraph);
  EXPECT_EQ(layout.dispatcher, describe::Dispatcher::kDeepEp);
}

TEST(RunLayout, KimiTrainsWithMuon) {
  RunCells run = megatron_run();
  run.model = "kimi-k2";
  const RunLayout out = run_layout(run, dense(16));
  EXPECT_EQ(out.layout.optimizer.kind, describe::OptimizerKind::kMuon);
  EXPECT_TRUE(lists(out.assumed, "muon"));
}

TEST(RunRecompute, ModulesOfSelectivePolicies) {
  describe::Assumptions assumed;
  const auto modules = [&](std::string_view text) {
    RunCells run;
    run.recompute_kind = "selective";
    run.recompute_text = text;
    return run_recompute(run, assumed).modules;
  };
  using Modules = std::vector<RecomputeModule>;
  EXPECT_EQ(modules("selective: mla_up_proj"), Modules{RecomputeModule::kMlaUpProjection});
  EXPECT_EQ(modules("selective: moe_act,layernorm"),
            (Modules{RecomputeModule::kLayerNorm, RecomputeModule::kMoeActivation}));
  EXPECT_EQ(modules("selective layer"), Modules{RecomputeModule::kEverySecondLayer});
  EXPECT_EQ(modules("selective (attention core)"), Modules{RecomputeModule::kCoreAttention});
  EXPECT_TRUE(assumed.empty());
  EXPECT_EQ(modules("selective"), Modules{RecomputeModule::kCoreAttention});
  EXPECT_EQ(assumed.size(), 1U);
}

TEST(RunRecompute, CustomPoliciesByWhatTheyKeep) {
  describe::Assumptions assumed;
  RunCells run;
  run.recompute_kind = "custom";
  run.recompute_text = "custom (saved/offloaded: decoder_layer_input:offload)";
  EXPECT_EQ(run_recompute(run, assumed).granularity, describe::Recompute::kFull);
  run.recompute_text = "minimal";
  EXPECT_EQ(run_recompute(run, assumed).granularity, describe::Recompute::kSelective);
}

TEST(RunSplit, PipelineLayoutsAreSpelledOut) {
  // 4 + 14 · 4 + 1 = 61 layers on 16 stages.
  const std::vector<std::int64_t> stages = stages_of_pipeline_layout("Et*4|(t*4|)*14tmL");
  ASSERT_EQ(stages.size(), 16U);
  EXPECT_EQ(std::accumulate(stages.begin(), stages.end(), std::int64_t{0}), 61);
  EXPECT_EQ(stages.back(), 1);
  for (const char* bad : {"", "(t", "t*99999999", "(t*9999)*9999"}) {
    EXPECT_TRUE(stages_of_pipeline_layout(bad).empty()) << bad;
  }
}

TEST(RunSplit, UnevenLayersAreDealtByRule) {
  describe::Assumptions assumed;
  RunCells run;
  Layout layout;
  layout.pp = 8;
  EXPECT_TRUE(run_split(run, dense(94), layout, assumed).count_embedding);  // 96 = 8 · 12
  EXPECT_TRUE(run_split(run, dense(31), layout, assumed).count_loss);       // 32 = 8 · 4
  const auto uneven = run_split(run, dense(28), layout, assumed).layers_per_stage;
  EXPECT_EQ(std::accumulate(uneven.begin(), uneven.end(), std::int64_t{0}), 28);
  EXPECT_EQ(assumed.size(), 3U);
  describe::Model with_mtp = dense(61);
  with_mtp.mtp_layers = 1;
  EXPECT_EQ(run_split(run, with_mtp, layout, assumed).layers_per_stage.back(), 5);  // 61 − 7 · 8
}

TEST(RunSplit, AStatedLastStageLeavesTheRestToTheOthers) {
  describe::Assumptions assumed;
  RunCells run;
  run.flags = "redistributed; layers on last stage setting=2";
  Layout layout;
  layout.pp = 8;
  // 30 layers on 7 stages: 4, and 5 on the two before the last.
  EXPECT_EQ(run_split(run, dense(32), layout, assumed).layers_per_stage,
            (std::vector<std::int64_t>{4, 4, 4, 4, 4, 5, 5, 2}));
}

}  // namespace
}  // namespace sextant::measured
