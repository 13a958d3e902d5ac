#include "describe/model/scaled_model.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "describe/model/load_model.h"
#include "describe/model/parameters.h"

namespace sextant::describe {
namespace {

Model named(const char* name) {
  const auto model = load_model(name, DataStore());
  EXPECT_TRUE(model) << name;
  return model.value_or(Model{});
}

// Llama-3.1-8B: hidden 4096, 32 heads of 128 in 8 groups, width 14336 = 3.5 · 4096.
TEST(ScaledModel, KeepsHeadSizeGroupsRatioAndLayers) {
  const Model llama = named("llama-3.1-8b");
  for (const std::int64_t hidden : {1024, 2048, 4096, 8192, 16384}) {
    const Model scaled = with_hidden(llama, hidden);
    EXPECT_EQ(scaled.hidden, hidden);
    EXPECT_EQ(scaled.layer_count(), 32);
    const auto& attention = std::get<Attention>(scaled.blocks[0].mixer);
    EXPECT_EQ(attention.head_dim, 128);
    EXPECT_EQ(attention.heads * attention.head_dim, hidden);
    EXPECT_EQ(attention.heads, 4 * attention.kv_heads);
    EXPECT_EQ(2 * std::get<DenseFfn>(scaled.blocks[0].ffn).width, 7 * hidden);
  }
}

TEST(ScaledModel, ItsOwnSizeChangesNothing) {
  for (const char* name : {"llama-3.1-8b", "deepseek-v3", "gemma-2-9b", "nemotron-h-8b",
                           "qwen3-next-80b-a3b", "gpt-oss-120b"}) {
    const Model model = named(name);
    EXPECT_EQ(model_parameters(with_hidden(model, model.hidden)).total(),
              model_parameters(model).total())
        << name;
  }
}

void expect_whole_groups(const Block& block) {
  if (const auto* attention = std::get_if<Attention>(&block.mixer)) {
    EXPECT_GE(attention->kv_heads, 1);
    EXPECT_EQ(attention->heads % attention->kv_heads, 0);
  } else if (const auto* mamba = std::get_if<Mamba2>(&block.mixer)) {
    EXPECT_EQ(mamba->heads % mamba->groups, 0);
  }
}

TEST(ScaledModel, HeadsStayWholeAndDivideIntoTheirGroups) {
  for (const char* name : {"llama-3.1-70b", "falcon-7b", "gpt2", "nemotron-h-8b", "qwen2.5-7b"}) {
    const Model model = named(name);
    for (const std::int64_t hidden : {1, 64, 1000, 3000, 5120, 16384}) {
      SCOPED_TRACE(name);
      const Model scaled = with_hidden(model, hidden);
      std::for_each(scaled.blocks.begin(), scaled.blocks.end(), expect_whole_groups);
    }
  }
}

// Twice the width is nearly four times the weights of a layer: norms only double.
TEST(ScaledModel, WeightsOfALayerGrowWithTheSquare) {
  const Model llama = named("llama-3.1-8b");
  const auto weights = [&](std::int64_t hidden) {
    return static_cast<double>(model_parameters(with_hidden(llama, hidden)).layers_total);
  };
  EXPECT_NEAR(weights(8192) / weights(4096), 4.0, 1e-3);
}

}  // namespace
}  // namespace sextant::describe
