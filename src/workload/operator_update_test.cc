// Formats, adapters, what happens to parameters, and the update.
#include "describe/model/parameters.h"
#include "workload/operator_testing.h"
#include "workload/weights.h"

namespace sextant::workload {
namespace {

using describe::Job;
using describe::Recompute;

TEST(Operators, EightBitTrainingQuantisesWhatProductsRead) {
  Job job = job_of("llama-3-8b");
  job.layout.precision = describe::Precision::kFp8;
  const std::vector<Operator> list = all_operators(job);
  EXPECT_EQ(only(list, {Part::kQkv}).dtype, describe::DType::kFp8);
  EXPECT_EQ(only(list, {Part::kHead}).dtype, describe::DType::kBf16);
  EXPECT_EQ(only(list, {Part::kCoreAttention, OpKind::kAttention}).dtype, describe::DType::kBf16);
  const Operator input = only(list, {Part::kQkv, OpKind::kQuantise});
  EXPECT_EQ(input.read.base(), 2.0 * 4096.0 * 4096.0);
  EXPECT_EQ(input.written.base(), 2.0 * 4096.0 * 4096.0);  // one byte, two ways round
  EXPECT_EQ(only(list, {Part::kQkv, OpKind::kQuantise, Pass::kInputGradient}).n, 6144);
  EXPECT_TRUE(chosen(list, {Part::kHead, OpKind::kQuantise}).empty());
}

TEST(Operators, AdaptersTrainAndFrozenWeightsDoNot) {
  Job job = job_of("llama-3-8b");
  job.workload = describe::Workload::kLora;
  job.lora = describe::Lora{};
  job.lora->rank = 8;
  const std::vector<Operator> list = all_operators(job);
  std::int64_t trained = 0;
  for (const Operator& op : list) {
    if (op.pass == Pass::kWeightGradient) {
      EXPECT_EQ(op.part, Part::kLora);
      trained += op.count * op.m * op.n;
    }
  }
  const std::int64_t a_layer =
      lora_weights(job.model, job.model.blocks[0], *job.lora, shard_of(job));
  EXPECT_EQ(trained, 32 * a_layer);
  EXPECT_EQ(chosen(list, {Part::kQkv, OpKind::kGemm, Pass::kInputGradient}).size(), 1U);
  EXPECT_TRUE(chosen(list, {Part::kEmbedding, OpKind::kCopy, Pass::kWeightGradient}).empty());
}

TEST(Operators, AForwardWorkloadHasNoOtherPass) {
  Job job = job_of("deepseek-v3");
  job.workload = describe::Workload::kForward;
  job.layout.recompute.granularity = Recompute::kFull;
  for (const Operator& op : all_operators(job)) {
    EXPECT_EQ(op.pass, Pass::kForward);
  }
  EXPECT_TRUE(update_operators(job, stages_of(job), shard_of(job)).empty());
}

TEST(Operators, PyTorchAccumulatesGradientsOutsideTheProducts) {
  Job job = job_of("llama-3-8b");
  job.framework = describe::Framework::kTorchtitan;
  job.layout.parameters = describe::Storage::kFp32;
  job.layout.zero = describe::Zero::kParameters;
  job.cluster.devices = 8;  // 8 microbatches
  const std::vector<Operator> list = all_operators(job);
  const auto parameters = static_cast<double>(describe::model_parameters(job.model).total());
  const auto bytes = [&](const Wanted& wanted) {
    double sum = 0.0;
    for (const Operator& op : chosen(list, wanted)) {
      sum += static_cast<double>(op.count) * (op.read + op.written).base();
    }
    return sum;
  };
  // A rank casts its 1/8 from fp32 to bf16, and does so again before the backward.
  EXPECT_NEAR(bytes({Part::kOptimizer, OpKind::kCast}) / (parameters / 8.0 * 6.0), 1.0, 1e-9);
  EXPECT_GT(bytes({Part::kOptimizer, OpKind::kCast, Pass::kInputGradient}), 0.0);
  // All gradients to fp32; a shard of them added up in 7 of 8 microbatches.
  EXPECT_NEAR(bytes({Part::kOptimizer, OpKind::kCast, Pass::kWeightGradient}) / (parameters * 6.0),
              1.0, 1e-9);
  EXPECT_NEAR(bytes({Part::kOptimizer, OpKind::kCopy, Pass::kWeightGradient}) /
                  (parameters / 8.0 * 12.0 * 7.0 / 8.0),
              1.0, 1e-9);
}

TEST(UpdateOperators, AdamMovesThirtyBytesAParameterInMixedPrecision) {
  const Job job = job_of("llama-3-8b");
  const std::vector<Operator> list = update_operators(job, stages_of(job), shard_of(job));
  const auto parameters = static_cast<double>(describe::model_parameters(job.model).total());
  const Operator adam = only(list, {Part::kOptimizer, OpKind::kOptimizer, Pass::kUpdate});
  // Read: fp32 gradient, copy and two moments; written: copy, moments and the bf16 parameter.
  EXPECT_EQ(adam.read.base(), 16.0 * parameters);
  EXPECT_EQ(adam.written.base(), 14.0 * parameters);
  const Operator norm = only(list, {Part::kOptimizer, OpKind::kReduceNorm, Pass::kUpdate});
  EXPECT_EQ(norm.read.base(), 4.0 * parameters);
}

TEST(UpdateOperators, ShardedStatesDivideTheUpdate) {
  Job job = job_of("mixtral-8x7b");
  job.layout.ep = 4;
  const auto update = [&job] {
    return only(update_operators(job, stages_of(job), shard_of(job)),
                {Part::kOptimizer, OpKind::kOptimizer, Pass::kUpdate})
        .read.base();
  };
  const double whole = update();
  job.layout.zero = describe::Zero::kOptimizer;
  const Shard shard = shard_of(job);
  const Weights weights = stage_weights(job.model, stages_of(job).front(), shard);
  EXPECT_EQ(whole, 16.0 * static_cast<double>(weights.total()));
  // 64 replicas of dense parameters, 16 of experts.
  EXPECT_NEAR(update(),
              16.0 * (static_cast<double>(weights.dense) / 64.0 +
                      static_cast<double>(weights.experts) / 16.0),
              1.0);
}

TEST(UpdateOperators, MuonOrthogonalisesEveryMatrixOfTheLayers) {
  Job job = job_of("llama-3-8b");
  job.layout.optimizer.kind = describe::OptimizerKind::kMuon;
  const std::vector<Operator> list = update_operators(job, stages_of(job), shard_of(job));
  // Four matrices a layer, three products an iteration.
  const std::vector<Operator> products =
      chosen(list, {Part::kOptimizer, OpKind::kGemm, Pass::kUpdate});
  ASSERT_EQ(products.size(), 12U);
  double flops = 0.0;
  for (const Operator& op : products) {
    EXPECT_EQ(op.count, 5 * 32);
    flops += static_cast<double>(op.count) * op.flops.base();
  }
  // 4·r²·c + 2·r³ an iteration: r = 4096 and c = 6144, 4096, 28672, 14336.
  const double r = 4096.0;
  const double expected =
      5.0 * 32.0 * (4.0 * r * r * (6144.0 + 4096.0 + 28672.0 + 14336.0) + 4.0 * 2.0 * r * r * r);
  EXPECT_NEAR(flops / expected, 1.0, 1e-12);
}

}  // namespace
}  // namespace sextant::workload
