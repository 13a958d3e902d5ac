#include "emit/not_known.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "emit/files.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kModelFlags =
    " --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096"
    " --max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 64"
    " --vocab-size 32000 --bf16 ";

Reading read_text_of(std::string_view text, std::string_view name = "t.sh") {
  const auto settings = parse(text, name);
  EXPECT_TRUE(settings) << (settings ? "" : to_text(settings.error()));
  return settings ? read(*settings, describe::DataStore{}) : Reading{};
}

Reading read_flags(const std::string& before, const std::string& flags) {
  return read_text_of(before + "torchrun --nproc_per_node 8 pretrain_gpt.py" +
                      std::string(kModelFlags) + flags + "\n");
}

std::string fact(const Reading& reading, std::string_view field) {
  std::string value = "(none)";
  for (const Fact& one : reading.facts) {
    value = one.field == field ? one.value : value;
  }
  return value;
}

using Fields = std::vector<std::string>;
Fields not_known(const Reading& reading) {
  return {reading.not_known.begin(), reading.not_known.end()};
}

TEST(NotKnown, NothingWhereEverythingIsSaid) {
  const Reading reading = read_flags("", "--tensor-model-parallel-size 8");
  EXPECT_EQ(not_known(reading), Fields{});
  EXPECT_EQ(layout_text(reading).find('?'), std::string::npos);
  EXPECT_EQ(fact(reading, "tp"), "8");
}

TEST(NotKnown, AnUnsetVariableLeavesItsFieldOpen) {
  struct Case {
    std::string flags;
    std::string field;
  };
  const std::vector<Case> cases{{"--tensor-model-parallel-size $X", "tp"},
                                {"--pipeline-model-parallel-size=$X", "pp"},
                                {"--context-parallel-size $X", "cp"},
                                {"--micro-batch-size $X", "mbs"},
                                {"--global-batch-size ${X}", "gbs"},
                                {"--seq-length $X", "seq"},
                                {"--num-layers $X", "layers"},
                                {"--fp8-format $X", "precision"},
                                {"--recompute-granularity $X", "recompute"}};
  for (const Case& one : cases) {
    const Reading reading = read_flags("", one.flags);
    EXPECT_TRUE(reading.not_known.contains(one.field)) << one.flags;
    EXPECT_EQ(fact(reading, one.field), "(none)") << one.flags;
  }
  EXPECT_EQ(layout_text(read_flags("", "--tensor-model-parallel-size $X")).substr(0, 5), "tp=?,");
}

// dp is what the others leave of the devices.
TEST(NotKnown, WhatFollowsFromItIsNotKnownEither) {
  const Reading reading = read_flags("", "--tensor-model-parallel-size $X");
  EXPECT_TRUE(reading.not_known.contains("dp"));
  EXPECT_EQ(reading.layout.dp, 0);
  EXPECT_EQ(fact(reading, "gbs"), "64");  // said by itself
}

TEST(NotKnown, AListOfFlagsMayHoldWhatNothingStates) {
  const Reading reading = read_flags("", "--tensor-model-parallel-size 4 ${PARALLEL_ARGS[@]}");
  EXPECT_FALSE(reading.not_known.contains("tp"));
  EXPECT_FALSE(reading.not_known.contains("mbs"));
  EXPECT_TRUE(reading.not_known.contains("pp"));
  EXPECT_TRUE(reading.not_known.contains("ep"));
}

TEST(NotKnown, WhatABranchAddsIsOpen) {
  const Reading reading =
      read_flags("A=''\nif x; then A=\"$A --sequence-parallel\"; fi\n", "$A --lr 1");
  EXPECT_TRUE(reading.not_known.contains("sp"));
  EXPECT_FALSE(reading.not_known.contains("tp"));
}

TEST(NotKnown, PathsAndNamesLeaveNothingOpen) {
  EXPECT_EQ(not_known(read_flags("", "--save $OUT --data-path $1 --wandb-exp-name $(date)")),
            Fields{});
}

TEST(NotKnown, AnotherFrameworksSpellingIsNoDefault) {
  EXPECT_TRUE(read_flags("", "--zero-optimization-level 3").not_known.contains("zero"));
  EXPECT_TRUE(read_flags("", "--expert-parallel-degree 8").not_known.contains("ep"));
}

// DeepSpeed's file leaves the micro-batch and the format to the program.
TEST(NotKnown, AutoIsNoValue) {
  const Reading reading = read_text_of(
      R"({"train_micro_batch_size_per_gpu": "auto", "bf16": {"enabled": "auto"},
          "zero_optimization": {"stage": 3}})",
      "ds.json");
  EXPECT_EQ(fact(reading, "zero"), "3");
  EXPECT_TRUE(reading.not_known.contains("mbs"));
  EXPECT_TRUE(reading.not_known.contains("precision"));
}

// The trainer's flags and defaults fill "auto"; a flag that is not known leaves it open.
TEST(NotKnown, TheTrainerFillsAuto) {
  const std::string json =
      R"({"train_micro_batch_size_per_gpu": "auto", "train_batch_size": "auto",
          "gradient_accumulation_steps": "auto", "bf16": {"enabled": "auto"},
          "fp16": {"enabled": "auto"}, "zero_optimization": {"stage": 3}})";
  const auto filled = [&](const std::string& flags) {
    const auto file = parse(json, "ds.json");
    const auto script = parse(
        "deepspeed --num_gpus 8 train.py --deepspeed ds.json "
        "--model_name_or_path x " +
            flags + "\n",
        "t.sh");
    EXPECT_TRUE(file && script);
    return read(joined(*file, *script), describe::DataStore{});
  };
  const Reading reading = filled("--bf16 True --per_device_train_batch_size 16");
  EXPECT_EQ(fact(reading, "mbs"), "16");
  EXPECT_EQ(fact(reading, "precision"), "bf16");
  EXPECT_EQ(fact(reading, "gbs"), "128");
  EXPECT_EQ(fact(filled("--gradient_accumulation_steps 4 --bf16 True"), "gbs"), "256");
  EXPECT_TRUE(filled("--per_device_train_batch_size $B").not_known.contains("mbs"));
}

TEST(NotKnown, ADegreeOfWhatIsLeftIsSaidByDevicesOnly) {
  const std::string toml =
      "[parallelism]\ndata_parallel_shard_degree = -1\n"
      "tensor_parallel_degree = 2\n[training]\nlocal_batch_size = 2\n";
  EXPECT_EQ(fact(read_text_of(toml, "t.toml"), "dp"), "(none)");
  EXPECT_EQ(fact(read_text_of("per_device_batch_size: 2\ndcn_fsdp_parallelism: 32\n"
                              "dcn_data_parallelism: 3\nici_fsdp_parallelism: -1\n",
                              "t.yml"),
                 "dp"),
            "(none)");
}

TEST(NotKnown, SizesOfTheModelAreFactsOneByOne) {
  const Reading reading = read_flags("", "--group-query-attention --num-query-groups 8");
  EXPECT_EQ(fact(reading, "layers"), "32");
  EXPECT_EQ(fact(reading, "hidden"), "4096");
  EXPECT_EQ(fact(reading, "kv_heads"), "8");
  EXPECT_EQ(fact(reading, "ffn"), "(none)");  // Megatron's own, said by nobody
}

// The catalogue's vocabulary is a guess, and said to be one.
TEST(NotKnown, ATokenizersVocabularyIsNoFact) {
  const Reading reading = read_text_of(
      "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
      "--ffn-hidden-size 14336 --num-attention-heads 32 --group-query-attention "
      "--num-query-groups 8 --seq-length 4096 --max-position-embeddings 8192 --swiglu "
      "--normalization RMSNorm --position-embedding-type rope --disable-bias-linear "
      "--untie-embeddings-and-output-weights --micro-batch-size 1 --global-batch-size 64 --bf16 "
      "--tokenizer-type SentencePieceTokenizer --tokenizer-model my/131072.model\n");
  EXPECT_EQ(fact(reading, "vocab"), "(none)");
  ASSERT_TRUE(reading.model);
  EXPECT_FALSE(reading.model->assumed.empty());
}

}  // namespace
}  // namespace sextant::emit
