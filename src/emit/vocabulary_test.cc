#include "emit/vocabulary.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "emit/files.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kJob =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 "
    "--num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 "
    "--micro-batch-size 4 --global-batch-size 64 --bf16 ";

struct VocabularyCase {
  std::string_view flags;
  std::string_view entries;  // "": not known
};

std::string vocabulary_of(std::string_view flags) {
  const auto settings = parse(std::string(kJob) + std::string(flags) + "\n", "t.sh");
  EXPECT_TRUE(settings);
  for (const Fact& fact : read(*settings, describe::DataStore{}).facts) {
    if (fact.field == "vocab") {
      return fact.value;
    }
  }
  return "";
}

TEST(Vocabulary, ComesFromWhatTheFilesName) {
  const std::vector<VocabularyCase> cases{
      {"--vocab-file /data/gpt2-vocab.json", "50257"},
      {"--vocab-file gpt2-vocab.json --pad-vocab-size-to 51200", "51200"},
      {"--vocab-size 32000 --vocab-file gpt2-vocab.json", "32000"},
      {"--tokenizer-type HuggingFaceTokenizer --tokenizer-model meta-llama/Llama-2-7b-hf", "32000"},
      {"--tokenizer-model meta-llama/Meta-Llama-3-8B", "128256"},
      {"--tokenizer-model Qwen/Qwen2.5-7B", "151665"},
      // What anyone may have made says nothing.
      {"--vocab-file my-vocab.json", ""},
      {"--tokenizer-model /models/Llama-2-7b-hf", ""},
      {"--tokenizer-type SentencePieceTokenizer --tokenizer-model /my/131072-vocab.model", ""}};
  for (const VocabularyCase& one : cases) {
    EXPECT_EQ(vocabulary_of(one.flags), one.entries) << one.flags;
  }
}

// 32 × 4096 is Llama 2's shape: its vocabulary is an assumption, and no fact.
TEST(Vocabulary, OfTheCatalogueIsNoFact) {
  const auto settings = parse(
      "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
      "--num-attention-heads 32 --ffn-hidden-size 11008 --swiglu --normalization RMSNorm "
      "--disable-bias-linear --untie-embeddings-and-output-weights --position-embedding-type rope "
      "--seq-length 4096 --max-position-embeddings 4096 --micro-batch-size 1 --bf16 "
      "--tokenizer-type SentencePieceTokenizer --tokenizer-model /my/nordic.model\n",
      "t.sh");
  ASSERT_TRUE(settings);
  const Reading reading = read(*settings, describe::DataStore{});
  for (const Fact& fact : reading.facts) {
    EXPECT_NE(fact.field, "vocab");
  }
}

}  // namespace
}  // namespace sextant::emit
