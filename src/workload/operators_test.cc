// Shapes and counts of single operators.
#include "workload/operators.h"

#include "describe/model/parameters.h"
#include "workload/operator_testing.h"

namespace sextant::workload {
namespace {

using describe::Job;

TEST(Operators, AStageWithoutLayersOrEndsDoesNothing) {
  const Job job = job_of("llama-3-8b");
  Stage stage;
  stage.blocks.assign(job.model.blocks.size(), 0);
  EXPECT_TRUE(stage_operators(job, stage, shard_of(job)).empty());
  EXPECT_TRUE(same(stage_totals(job, job.layout, stage, shard_of(job)), {}));
}

TEST(Operators, NoTokensNeedNoFlops) {
  for (const char* name : {"llama-3-8b", "deepseek-v3", "mamba2-2.7b", "qwen3-next-80b"}) {
    const Job job = job_of(name);
    Shard shard = shard_of(job);
    shard.tokens = shard.region_tokens = shard.local_sequence = shard.sequence = 0;
    shard.causal_keys = 0.0;
    const WorkTotals totals = stage_totals(job, job.layout, stages_of(job).front(), shard);
    EXPECT_EQ(totals.model.base(), 0.0) << name;
    EXPECT_EQ(totals.forward.flops.base(), 0.0) << name;
    EXPECT_TRUE(std::isfinite(totals.forward.bytes.base())) << name;
  }
}

TEST(Operators, APetaParameterModelDoesNotOverflow) {
  Job job = job_of("llama-3-8b");
  job.model.hidden = 1 << 20;
  job.model.vocab = 1 << 24;
  auto& block = job.model.blocks[0];
  block.mixer = describe::Attention{.heads = 8192, .kv_heads = 8192, .head_dim = 128};
  block.ffn = describe::DenseFfn{.width = 1 << 22};
  job.model.layers.assign(100, 0);
  job.sequences.length = 1 << 20;
  ASSERT_TRUE(describe::check_size(job.model));
  ASSERT_GT(describe::model_parameters(job.model).total(), 1'000'000'000'000'000);
  const WorkTotals totals = totals_of(all_operators(job));
  // 6 operations a weight and token, 2^20 tokens; attention on top.
  EXPECT_GT(totals.model.base(), 6e15 * 1048576.0);
  EXPECT_TRUE(std::isfinite(totals.weight_gradient.bytes.base()));
  EXPECT_GT(totals.weight_gradient.bytes.base(), 0.0);
}

// --- shapes -------------------------------------------------------------------------------------

// Llama 3 8B: 4096 wide, 32 heads and 8 key-value heads of 128 (48 · 128 = 6144 columns), 14336
// wide feed-forward part with a gate (28672), 32 layers, 128256 words.
TEST(Operators, ProductsOfLlama8BHaveTheirShapesInAllThreePasses) {
  const std::vector<Operator> list = all_operators(job_of("llama-3-8b"));
  const Operator qkv = only(list, {Part::kQkv});
  expect_shape(qkv, 4096, 6144, 4096);
  EXPECT_EQ(qkv.count, 32);
  EXPECT_EQ(qkv.flops.base(), 2.0 * 4096.0 * 6144.0 * 4096.0);
  // bf16: 4096² inputs, 6144·4096 weights, 4096·6144 outputs.
  EXPECT_EQ(qkv.read.base(), 2.0 * (4096.0 * 4096.0 + 6144.0 * 4096.0));
  EXPECT_EQ(qkv.written.base(), 2.0 * 4096.0 * 6144.0);
  expect_shape(only(list, {Part::kQkv, OpKind::kGemm, Pass::kInputGradient}), 4096, 4096, 6144);
  const Operator weight = only(list, {Part::kQkv, OpKind::kGemm, Pass::kWeightGradient});
  expect_shape(weight, 6144, 4096, 4096);
  // The fp32 gradient buffer is read and written by the product itself.
  EXPECT_EQ(weight.written.base(), 4.0 * 6144.0 * 4096.0);
  expect_shape(only(list, {Part::kFc1}), 4096, 28672, 4096);
  expect_shape(only(list, {Part::kFc2}), 4096, 4096, 14336);
  expect_shape(only(list, {Part::kHead}), 4096, 128256, 4096);
}

TEST(Operators, FrameworksWithoutFusedProjectionsRunThemApart) {
  Job job = job_of("llama-3-8b");
  job.framework = describe::Framework::kTorchtitan;
  const std::vector<Operator> list = all_operators(job);
  ASSERT_EQ(chosen(list, {Part::kQkv}).size(), 3U);
  EXPECT_EQ(chosen(list, {Part::kQkv})[1].n, 1024);
  EXPECT_EQ(chosen(list, {Part::kFc1}).size(), 2U);
  EXPECT_EQ(totals_of(list).model, totals_of(all_operators(job_of("llama-3-8b"))).model);
}

TEST(Operators, TensorParallelRanksHoldHeadsColumnsAndWords) {
  Job job = job_of("llama-3-8b");
  job.layout.tp = 16;
  job.layout.sp = true;
  const std::vector<Operator> list = all_operators(job);
  // 2 query heads; one of 8 key-value heads, held twice in the group.
  expect_shape(only(list, {Part::kQkv}), 4096, 512, 4096);
  expect_shape(only(list, {Part::kAttentionOutput}), 4096, 4096, 256);
  expect_shape(only(list, {Part::kFc2}), 4096, 4096, 14336 / 16);
  // Padded to a multiple of 128·16.
  expect_shape(only(list, {Part::kHead}), 4096, 129024 / 16, 4096);
  EXPECT_EQ(only(list, {Part::kInputNorm, OpKind::kNorm}).m, 4096 / 16);
}

TEST(Operators, CausalFlashAttentionComputesHalfTheSquare) {
  const Operator forward =
      only(all_operators(job_of("llama-3-8b")), {Part::kCoreAttention, OpKind::kAttention});
  EXPECT_EQ(forward.heads, 32);
  EXPECT_EQ(forward.kv_heads, 8);
  EXPECT_EQ(forward.keys, 2048.0);
  EXPECT_EQ(forward.flops.base(), 4.0 * 4096.0 * 32.0 * 128.0 * 2048.0);
  const Operator backward = only(all_operators(job_of("llama-3-8b")),
                                 {Part::kCoreAttention, OpKind::kAttention, Pass::kInputGradient});
  EXPECT_EQ(backward.flops.base(), 2.5 * forward.flops.base());
  EXPECT_EQ(backward.model_flops.base(), 2.0 * forward.flops.base());
}

TEST(Operators, EagerAttentionComputesAllOfItAndPassesScoresThroughMemory) {
  Job job = job_of("llama-3-8b");
  job.layout.attention = describe::AttentionKernel::kEager;
  const std::vector<Operator> list = all_operators(job);
  EXPECT_EQ(chosen(list, {Part::kCoreAttention}).size(), 2U);
  EXPECT_EQ(chosen(list, {Part::kCoreAttention, OpKind::kGemm, Pass::kInputGradient}).size(), 4U);
  const Operator scores = chosen(list, {Part::kCoreAttention})[0];
  EXPECT_EQ(scores.batch, 32);
  expect_shape(scores, 4096, 4096, 128);
  EXPECT_EQ(scores.model_flops.base(), 0.5 * scores.flops.base());
  EXPECT_EQ(only(list, {Part::kCoreAttention, OpKind::kActivation}).n, 4096);
}

TEST(Operators, AWindowBoundsTheKeysSeen) {
  // gpt-oss: every second layer sees 128 keys; of 4096 queries the first 128 see fewer:
  // 128 − 128²/8192 = 126 on average, counted as 128.
  const std::vector<Operator> list = all_operators(job_of("gpt-oss-20b"));
  const std::vector<Operator> attention = chosen(list, {Part::kCoreAttention, OpKind::kAttention});
  ASSERT_EQ(attention.size(), 2U);
  const Operator& windowed = attention[0].keys < attention[1].keys ? attention[0] : attention[1];
  EXPECT_EQ(windowed.keys, 126.0);
  EXPECT_NEAR(windowed.model_flops / windowed.flops, 128.0 / 126.0, 1e-12);
}

TEST(Operators, PackedDocumentsShortenAttention) {
  Job job = job_of("llama-3-8b");
  job.sequences = *describe::parse_sequences("packed:4096:1024*1.0");
  const Operator op = only(all_operators(job), {Part::kCoreAttention, OpKind::kAttention});
  EXPECT_EQ(op.keys, 512.0);
  EXPECT_EQ(op.m, 4096);
}

TEST(Operators, ContextParallelRingSplitsQueriesAndUlyssesSplitsHeads) {
  Job job = job_of("llama-3-8b");
  job.layout.cp = 4;
  const Wanted core{Part::kCoreAttention, OpKind::kAttention};
  const Operator ring = only(all_operators(job), core);
  expect_shape(ring, 1024, 4096, 128);
  EXPECT_EQ(ring.heads, 32);
  job.layout.cp_method = describe::CpMethod::kAllToAll;
  const Operator ulysses = only(all_operators(job), core);
  expect_shape(ulysses, 4096, 4096, 128);
  EXPECT_EQ(ulysses.heads, 8);
  EXPECT_EQ(ulysses.kv_heads, 2);
  EXPECT_EQ(ring.flops, ulysses.flops);
  job.layout.cp_method = describe::CpMethod::kAllToAllP2p;
  job.layout.cp_inner = 2;
  const Operator both = only(all_operators(job), core);
  expect_shape(both, 2048, 4096, 128);
  EXPECT_EQ(both.flops, ring.flops);
}

// DeepSeek-V3: 7168 wide, 128 heads of 128 + 64 and 128 (32 a rank), latents of 1536 and 512, 256
// experts of 2048 of which 8, one shared of 2048; 3 dense layers of 18432 and 58 with experts.
TEST(Operators, LatentAttentionSplitsUpProjectionsOnly) {
  Job job = job_of("deepseek-v3");
  job.layout.tp = 4;
  job.layout.sp = true;
  const std::vector<Operator> list = all_operators(job);
  // The dense block, the block with experts, and multi-token prediction's.
  ASSERT_EQ(chosen(list, {Part::kMlaQueryDown}).size(), 3U);
  expect_shape(chosen(list, {Part::kMlaQueryDown})[0], 1024, 1536, 7168);
  expect_shape(chosen(list, {Part::kMlaQueryUp})[0], 4096, 6144, 1536);
  expect_shape(chosen(list, {Part::kMlaKvDown})[0], 1024, 576, 7168);
  expect_shape(chosen(list, {Part::kMlaKvUp})[0], 4096, 8192, 512);
  const Operator core = chosen(list, {Part::kCoreAttention, OpKind::kAttention})[0];
  EXPECT_EQ(core.k, 192);
  EXPECT_EQ(core.value_dim, 128);
  // 3 · 192 + 2 · 128 over 192 + 128.
  const Operator back =
      chosen(list, {Part::kCoreAttention, OpKind::kAttention, Pass::kInputGradient})[0];
  EXPECT_NEAR(back.flops / core.flops, 832.0 / 320.0, 1e-12);
}

TEST(Operators, ExpertsGetTheirBalancedShareOfTheGroupsTokens) {
  Job job = job_of("deepseek-v3");
  job.layout.ep = 32;
  const std::vector<Operator> list = all_operators(job);
  const Operator up = chosen(list, {Part::kExpertFc1, OpKind::kGroupedGemm})[0];
  EXPECT_EQ(up.batch, 8);
  // 4096 tokens · top-8 on average arrive at each rank, over its 8 experts.
  expect_shape(up, 4096, 4096, 7168);
  EXPECT_EQ(up.count, 58);
  const Operator down = chosen(list, {Part::kExpertFc2, OpKind::kGroupedGemm})[0];
  expect_shape(down, 4096, 7168, 2048);
  expect_shape(chosen(list, {Part::kSharedFc1})[0], 4096, 4096, 7168);
  const Operator router = chosen(list, {Part::kRouter})[0];
  expect_shape(router, 4096, 256, 7168);
  EXPECT_EQ(router.dtype, describe::DType::kBf16);  // its result is fp32
}

// Megatron adds the bias behind the second product expert by expert in fp32 code, 14 passes of 16
// bits; compiled code once through.
TEST(Operators, TheBiasOfExpertsIsAddedBehindTheirSecondProduct) {
  Job job = job_of("gpt-oss-120b");
  job.layout.ep = 64;
  const Wanted added{Part::kExpertFc2, OpKind::kResidual};
  const Operator eager = chosen(all_operators(job), added)[0];
  const double elements = static_cast<double>(eager.m) * 2880.0;
  EXPECT_EQ(eager.n, 2880);
  EXPECT_EQ((eager.read + eager.written) / Bytes(1.0), 14.0 * 2.0 * elements);
  EXPECT_EQ(eager.kernels, 2.0 + 2.0 * 2.0);  // 2 experts a rank
  job.framework = describe::Framework::kMaxtext;
  const Operator compiled = chosen(all_operators(job), added)[0];
  EXPECT_EQ((compiled.read + compiled.written) / Bytes(1.0), 2.0 * 2.0 * elements);
  for (const Operator& one : all_operators(job_of("mixtral-8x7b"))) {
    EXPECT_FALSE(one.part == Part::kExpertFc2 && one.kind == OpKind::kResidual);
  }
}

TEST(Operators, ExpertTensorParallelismTradesWidthForTokens) {
  Job job = job_of("mixtral-8x7b");
  job.layout.tp = 4;
  job.layout.sp = true;
  const Wanted wanted{Part::kExpertFc1, OpKind::kGroupedGemm};
  const Operator whole = only(all_operators(job), wanted);
  // A rank sends its 1024 tokens twice, to 8 experts.
  expect_shape(whole, 256, 28672, 4096);
  job.layout.etp = 4;
  const Operator cut = only(all_operators(job), wanted);
  expect_shape(cut, 1024, 7168, 4096);
  EXPECT_EQ(whole.flops, cut.flops);
}

TEST(Operators, HybridsHaveScansWhereOthersHaveAttention) {
  const std::vector<Operator> mamba = all_operators(job_of("mamba2-2.7b"));
  // 80 heads of 64, state 128, 2560 wide; one group: 2·5120 + 2·128 + 80 columns.
  expect_shape(only(mamba, {Part::kSsmInput}), 4096, 10576, 2560);
  const Operator scan = only(mamba, {Part::kScan, OpKind::kScan});
  EXPECT_EQ(scan.heads, 80);
  // Chunk 256: scores 2·256·128, half a square 5120·256, states in and out 4·5120·128, a token.
  EXPECT_EQ(scan.flops.base(), 4096.0 * (65536.0 + 1310720.0 + 2621440.0));
  EXPECT_EQ(scan.model_flops.base(), 0.0);
  EXPECT_TRUE(chosen(mamba, {Part::kCoreAttention, OpKind::kAttention}).empty());
  const std::vector<Operator> delta = all_operators(job_of("qwen3-next-80b"));
  // 16 key and 32 value heads of 128, 2048 wide: 2·2048 + 2·4096 + 64 columns.
  expect_shape(chosen(delta, {Part::kSsmInput})[0], 4096, 12352, 2048);
  EXPECT_FALSE(chosen(delta, {Part::kAttentionGate, OpKind::kActivation}).empty());
}

}  // namespace
}  // namespace sextant::workload
