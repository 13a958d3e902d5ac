// Laws that operators keep for every model and layout, and what recomputation repeats.
#include <array>
#include <optional>

#include <rapidcheck.h>

#include "describe/layout/pipeline_split.h"
#include "describe/layout/rules.h"
#include "workload/operator_testing.h"
#include "workload/weights.h"

namespace sextant::workload {
namespace {

using describe::Job;
using describe::Layout;
using describe::Recompute;
using describe::RecomputeModule;

constexpr std::array<const char*, 12> kModels{
    "llama-3-8b",      "gpt-3-175b",   "gemma-2-9b",     "deepseek-v3",
    "deepseek-v3.2",   "mixtral-8x7b", "qwen3-next-80b", "mamba2-2.7b",
    "nemotron-3-nano", "gpt-oss-20b",  "falcon-7b",      "qwen1.5-moe-a2.7b"};

constexpr std::array<describe::Framework, 5> kFrameworks{
    describe::Framework::kMegatronCore, describe::Framework::kTorchtitan,
    describe::Framework::kAccelerate, describe::Framework::kMaxtext,
    describe::Framework::kDeepspeed};

describe::RecomputePolicy random_policy() {
  describe::RecomputePolicy policy;
  policy.granularity = *rc::gen::element(Recompute::kNone, Recompute::kSelective, Recompute::kFull);
  policy.method =
      *rc::gen::element(describe::RecomputeMethod::kUniform, describe::RecomputeMethod::kBlock);
  policy.layers = *rc::gen::inRange<std::int64_t>(0, 6);
  if (policy.granularity == Recompute::kSelective) {
    policy.modules = *rc::gen::unique<std::vector<RecomputeModule>>(
        *rc::gen::inRange<std::size_t>(0, 4),
        rc::gen::element(RecomputeModule::kCoreAttention, RecomputeModule::kLayerNorm,
                         RecomputeModule::kMlp, RecomputeModule::kActivation,
                         RecomputeModule::kEverySecondLayer));
  }
  return policy;
}

// A legal job, or nothing is asked of this draw.
Job random_compute_job() {
  Job job = job_of(*rc::gen::elementOf(kModels));
  if (job.model.learned_positions > 0) {
    job.sequences.length = std::min(job.sequences.length, job.model.learned_positions);
  }
  job.framework = *rc::gen::elementOf(kFrameworks);
  Layout& layout = job.layout;
  layout.tp = *rc::gen::element<std::int64_t>(1, 2, 4, 8);
  layout.sp = layout.tp > 1 && *rc::gen::arbitrary<bool>();
  layout.cp = *rc::gen::element<std::int64_t>(1, 1, 2);
  layout.cp_method = *rc::gen::element(describe::CpMethod::kP2pRing, describe::CpMethod::kAllToAll);
  layout.pp = *rc::gen::element<std::int64_t>(1, 2, 4);
  layout.split = describe::plausible_split(job.model.layer_count(), layout.pp);
  if (describe::has_experts(job.model)) {
    layout.ep = *rc::gen::element<std::int64_t>(1, 2, 4);
    layout.etp = *rc::gen::element<std::int64_t>(1, 2);
  }
  layout.mbs = *rc::gen::element<std::int64_t>(1, 2);
  layout.zero = *rc::gen::element(describe::Zero::kNone, describe::Zero::kOptimizer,
                                  describe::Zero::kParameters);
  layout.precision = *rc::gen::element(describe::Precision::kBf16, describe::Precision::kFp8,
                                       describe::Precision::kNvfp4, describe::Precision::kFp32);
  layout.attention =
      *rc::gen::element(describe::AttentionKernel::kFlash, describe::AttentionKernel::kFused,
                        describe::AttentionKernel::kEager);
  layout.dispatcher =
      *rc::gen::element(describe::Dispatcher::kAllToAll, describe::Dispatcher::kDeepEp);
  layout.optimizer.kind =
      *rc::gen::element(describe::OptimizerKind::kAdam, describe::OptimizerKind::kMuon);
  layout.recompute = random_policy();
  job.workload = *rc::gen::element(describe::Workload::kPretrain, describe::Workload::kPretrain,
                                   describe::Workload::kLora, describe::Workload::kForward);
  RC_PRE(describe::check_rules(job).empty());
  return job;
}

TEST(OperatorLaws, ListsAndTotalsAgreeForEveryLayout) {
  EXPECT_TRUE(rc::check("list == totals", [] {
    const Job job = random_compute_job();
    const Shard shard = shard_of(job);
    const std::vector<Stage> stages = stages_of(job);
    LayoutWork work;
    work.assign(job, job.layout, shard);
    for (const Stage& stage : stages) {
      const WorkTotals listed = totals_of(stage_operators(job, stage, shard));
      RC_ASSERT(same(listed, stage_totals(job, job.layout, stage, shard)));
      RC_ASSERT(same(listed, work.stage(job, job.layout, stage)));
    }
    RC_ASSERT(same(totals_of(update_operators(job, stages, shard)),
                   update_totals(job, job.layout, stages, shard)));
  }));
}

TEST(OperatorLaws, EveryNumberIsFiniteAndNotNegative) {
  EXPECT_TRUE(rc::check("numbers are sane", [] {
    const Job job = random_compute_job();
    for (const Operator& op : all_operators(job)) {
      for (const double number :
           {op.flops.base(), op.model_flops.base(), op.read.base(), op.written.base(), op.keys,
            static_cast<double>(op.m), static_cast<double>(op.n), static_cast<double>(op.count)}) {
        RC_ASSERT(std::isfinite(number) && number >= 0.0);
      }
      RC_ASSERT(op.count > 0);
      RC_ASSERT(op.pass != Pass::kRecompute || op.model_flops.base() == 0.0);
    }
  }));
}

// What a replica's ranks ask for does not depend on how the model is cut.
TEST(OperatorLaws, ModelFlopsAreTheSameForEveryLayout) {
  EXPECT_TRUE(rc::check("model flops are invariant", [] {
    Job job = random_compute_job();
    RC_PRE(job.workload == describe::Workload::kPretrain);
    const auto per_token = [](const Job& of) {
      const Shard shard = shard_of(of);
      return totals_of(all_operators(of)).model.base() * static_cast<double>(shard.tp * shard.cp) /
             static_cast<double>(shard.mbs * shard.sequence);
    };
    const double cut = per_token(job);
    job.layout = Layout{};
    RC_ASSERT(std::abs(cut / per_token(job) - 1.0) < 1e-9);
  }));
}

// Executed products grow under tensor parallelism only by what is repeated: key-value heads beyond
// kv_heads, state groups, padding of the vocabulary, and without sp the parts between the
// tensor-parallel regions.
TEST(OperatorLaws, TensorParallelismRepeatsOnlyWhatItCannotSplit) {
  const auto products = [](const Job& job) {
    double flops = 0.0;
    for (const Operator& op : all_operators(job)) {
      if (op.kind == OpKind::kGemm || op.kind == OpKind::kGroupedGemm) {
        flops += static_cast<double>(op.count) * op.flops.base();
      }
    }
    return flops * static_cast<double>(job.layout.tp);
  };
  for (const char* name : {"llama-3-8b", "deepseek-v3", "mixtral-8x7b"}) {
    Job job = job_of(name);
    job.framework = describe::Framework::kNanotron;  // does not pad the vocabulary
    const double whole = products(job);
    job.layout.tp = 8;
    job.layout.sp = true;
    EXPECT_NEAR(products(job) / whole, 1.0, 1e-12) << name;
    job.layout.sp = false;
    EXPECT_GE(products(job), whole * (1.0 - 1e-12)) << name;
  }
}

// Parts that a policy repeats in every layer; nothing where it depends on the layer.
std::optional<PartMask> repeated_everywhere(const Job& job) {
  const describe::RecomputePolicy& policy = job.layout.recompute;
  if (policy.granularity == Recompute::kFull) {
    const bool all = policy.method == describe::RecomputeMethod::kUniform &&
                     job.framework == describe::Framework::kMegatronCore;
    return all ? std::optional(kLayerParts) : std::nullopt;
  }
  return skips_layers(policy) ? std::nullopt
                              : std::optional(recomputed_parts(policy, job.framework));
}

TEST(OperatorLaws, RecomputationRepeatsTheForwardOfItsPartsAndChangesNothingElse) {
  EXPECT_TRUE(rc::check("recompute == forward of the parts", [] {
    Job job = random_compute_job();
    RC_PRE(job.workload != describe::Workload::kForward);
    const WorkTotals with = totals_of(all_operators(job));
    const auto parts = repeated_everywhere(job);
    job.layout.recompute = {};
    WorkTotals without;
    for (const Operator& op : all_operators(job)) {
      const WorkTotals once = totals_of(std::span(&op, 1));
      without += once;
      if (holds(parts.value_or(0), op.part)) {
        without.recompute += once.forward;
      }
    }
    if (!parts) {
      without.recompute = with.recompute;
    }
    RC_ASSERT(same(with, without));
  }));
}

// Weight gradients of a stage's products, in elements.
double covered_elements(const Job& job, const Stage& stage) {
  double covered = 0.0;
  for (const Operator& op : stage_operators(job, stage, shard_of(job))) {
    if (op.pass == Pass::kWeightGradient &&
        (op.kind == OpKind::kGemm || op.kind == OpKind::kGroupedGemm)) {
      covered += static_cast<double>(op.count) * static_cast<double>(op.batch) *
                 static_cast<double>(op.m) * static_cast<double>(op.n);
    }
  }
  return covered;
}

// The products' weights are the parameters that weights.h counts, vectors apart.
TEST(OperatorLaws, WeightGradientsCoverTheParametersOfTheRank) {
  for (const char* name : kModels) {
    Job job = job_of(name);
    job.sequences.length = 1024;
    for (const std::int64_t tp : {1, 2}) {
      job.layout.tp = tp;
      if (!describe::check_rules(job).empty()) {
        continue;
      }
      Stage stage = stages_of(job).front();
      stage.embedding = stage.head = false;
      stage.mtp_layers = 0;
      const auto held = static_cast<double>(stage_weights(job.model, stage, shard_of(job)).total());
      EXPECT_NEAR(covered_elements(job, stage) / held, 1.0, 2e-3) << name << " tp=" << tp;
    }
  }
}

TEST(Recomputed, LayersFollowThePolicy) {
  describe::RecomputePolicy policy;
  EXPECT_EQ(recomputed_layers(policy, 8), (RecomputedLayers{0, 0}));
  policy.granularity = Recompute::kFull;
  policy.layers = 3;
  EXPECT_EQ(recomputed_layers(policy, 8), (RecomputedLayers{8, 0}));  // uniform: chunks of three
  policy.method = describe::RecomputeMethod::kBlock;
  EXPECT_EQ(recomputed_layers(policy, 8), (RecomputedLayers{3, 0}));
  EXPECT_EQ(recomputed_layers(policy, 2), (RecomputedLayers{2, 0}));
  EXPECT_EQ(recomputed_mtp_layers(policy, 1), (RecomputedLayers{0, 0}));
  policy.granularity = Recompute::kSelective;
  EXPECT_EQ(recomputed_layers(policy, 8), (RecomputedLayers{0, 8}));
  EXPECT_EQ(recomputed_parts(policy, describe::Framework::kMegatronCore),
            mask_of(Part::kCoreAttention));
  policy.modules = {RecomputeModule::kEverySecondLayer};
  EXPECT_EQ(recomputed_layers(policy, 7), (RecomputedLayers{3, 4}));
  EXPECT_EQ(recomputed_parts(policy, describe::Framework::kTorchtitan), PartMask{0});
}

// DeepSeek-V3's first stage of 8 layers begins with 3 dense ones.
TEST(Recomputed, TheFirstLayersOfAStageAreTheOnesRecomputed) {
  const Job job = job_of("deepseek-v3");
  describe::RecomputePolicy policy{.granularity = Recompute::kFull,
                                   .method = describe::RecomputeMethod::kBlock,
                                   .layers = 4,
                                   .modules = {}};
  Stage stage;
  stage.layers = 8;
  const int dense = job.model.layers[0];
  const int moe = job.model.layers[3];
  stage.blocks.assign(job.model.blocks.size(), 0);
  stage.blocks[static_cast<std::size_t>(dense)] = 3;
  stage.blocks[static_cast<std::size_t>(moe)] = 5;
  EXPECT_EQ(recomputed_layers(policy, job.model, stage, dense), (RecomputedLayers{3, 0}));
  EXPECT_EQ(recomputed_layers(policy, job.model, stage, moe), (RecomputedLayers{1, 0}));
}

TEST(Recomputed, FullRecomputationRepeatsEveryProductOfALayerUnderMegatron) {
  Job job = job_of("llama-3-8b");
  job.layout.recompute.granularity = Recompute::kFull;
  const std::vector<Operator> list = all_operators(job);
  EXPECT_EQ(only(list, {Part::kFc2, OpKind::kGemm, Pass::kRecompute}).count, 32);
  EXPECT_TRUE(chosen(list, {Part::kHead, OpKind::kGemm, Pass::kRecompute}).empty());
  // PyTorch's checkpoint stops before the last product, whose output no gradient reads.
  job.framework = describe::Framework::kTorchtitan;
  const std::vector<Operator> torch = all_operators(job);
  EXPECT_TRUE(chosen(torch, {Part::kFc2, OpKind::kGemm, Pass::kRecompute}).empty());
  EXPECT_FALSE(chosen(torch, {Part::kFc1, OpKind::kGemm, Pass::kRecompute}).empty());
  job.model = catalogue("gemma-2-9b");  // a norm after it does read it
  EXPECT_FALSE(chosen(all_operators(job), {Part::kFc2, OpKind::kGemm, Pass::kRecompute}).empty());
}

}  // namespace
}  // namespace sextant::workload
