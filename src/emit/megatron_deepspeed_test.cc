#include "emit/megatron_deepspeed.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "emit/files.h"

namespace sextant::emit {
namespace {

Reading read_fork(const std::string& flags) {
  const auto settings = parse(
      "deepspeed --num_nodes 2 --num_gpus 8 pretrain_gpt.py --num-layers 32 --hidden-size "
      "4096 --num-attention-heads 32 --seq-length 2048 --max-position-embeddings 2048 "
      "--micro-batch-size 1 --global-batch-size 64 --vocab-size 50304 --bf16 "
      "--tensor-model-parallel-size 4 --deepspeed --deepspeed_config ds.json " +
          flags + "\n",
      "t.sh");
  EXPECT_TRUE(settings) << (settings ? "" : to_text(settings.error()));
  return settings ? read(*settings, describe::DataStore{}) : Reading{};
}

std::string fact_of(const Reading& reading, std::string_view field) {
  std::string value = "(none)";
  for (const Fact& fact : reading.facts) {
    value = fact.field == field ? fact.value : value;
  }
  return value;
}

TEST(MegatronDeepspeed, IsToldByItsFlags) {
  EXPECT_EQ(read_fork("").framework, describe::Framework::kMegatronDeepspeed);
  const auto plain = parse("torchrun pretrain_gpt.py --num-layers 2\n", "t.sh");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(is_megatron_deepspeed(*plain));
}

TEST(MegatronDeepspeed, TheStageIsTheFlagsOrNotKnown) {
  EXPECT_EQ(fact_of(read_fork("--zero-stage 3"), "zero"), "3");
  EXPECT_EQ(fact_of(read_fork("--zero-stage=0"), "zero"), "0");
  const Reading silent = read_fork("");
  EXPECT_EQ(fact_of(silent, "zero"), "(none)");
  EXPECT_TRUE(silent.not_known.contains("zero"));
  EXPECT_TRUE(read_fork("--zero-stage $Z").not_known.contains("zero"));
}

TEST(MegatronDeepspeed, OldWordsKeepTheirMeaning) {
  const Reading reading =
      read_fork("--checkpoint-activations --num-key-value-heads 8 --num-experts 1 --zero-stage 1");
  EXPECT_EQ(reading.layout.recompute.granularity, describe::Recompute::kFull);
  EXPECT_EQ(fact_of(reading, "kv_heads"), "8");
  EXPECT_EQ(fact_of(reading, "experts"), "(none)");
  EXPECT_TRUE(reading.unknown.empty());
  EXPECT_EQ(fact_of(read_fork("--num-experts 64 --moe-expert-parallel-size 8"), "ep"), "8");
}

// 16 devices, tp 4, Ulysses 2: two replicas are left.
TEST(MegatronDeepspeed, UlyssesDividesTheReplicas) {
  const Reading reading = read_fork("--ds-sequence-parallel-size 2 --zero-stage 3");
  EXPECT_EQ(reading.layout.cp, 2);
  EXPECT_EQ(reading.layout.dp, 2);
}

// bigscience counts the embeddings as layers: 70 layers on 12 stages are right.
TEST(MegatronDeepspeed, StagesCutByAnotherCountAreNotJudged) {
  EXPECT_TRUE(read_fork("--pp-partition-method 'type:transformer|embedding' --zero-stage 1")
                  .not_known.contains("split"));
}

}  // namespace
}  // namespace sextant::emit
