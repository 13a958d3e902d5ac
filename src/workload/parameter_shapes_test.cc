#include "workload/parameter_shapes.h"

#include <gtest/gtest.h>

#include "describe/model/load_model.h"
#include "describe/model/parameters.h"
#include "workload/weights.h"

namespace sextant::workload {
namespace {

// Two methods must agree on every model there is: shapes added up, and the formulas of
// describe/model and of weights.h.
TEST(ParameterShapes, AddUpToTheCountsOfTheWholeCatalogue) {
  const describe::DataStore data;
  for (const std::string& name : describe::catalogue_names(data)) {
    const auto model = describe::load_model(name, data);
    ASSERT_TRUE(model) << name;
    for (const describe::Block& block : model->blocks) {
      std::int64_t elements = 0;
      for_each_parameter(*model, block, [&](const ParameterShape& shape) {
        elements +=
            shape.count * shape.rows * shape.columns * std::max<std::int64_t>(shape.experts, 1);
      });
      EXPECT_EQ(elements, describe::block_parameters(*model, block).total()) << name;
    }
  }
}

// By hand, from the shapes that Megatron gives each parameter.
TEST(ParameterShapes, OneOfTwoRanksHoldsHalfOfWhatIsSplit) {
  const describe::DataStore data;
  Shard shard;
  shard.tp = 2;
  const auto llama = describe::load_model("llama-3.1-8b", data);
  ASSERT_TRUE(llama);
  // q and o: 16 of 32 heads of 128; k and v: 4 of 8; gate, up, down: 7,168 of 14,336; two norms.
  EXPECT_EQ(block_weights(*llama, llama->blocks[0], shard).dense,
            2 * 4096 * 2048 + 2 * 4096 * 512 + 3 * 4096 * 7168 + 2 * 4096);
  shard.tp = 16;  // more ranks than kv heads: each keeps one
  EXPECT_EQ(block_weights(*llama, llama->blocks[0], shard).dense,
            2 * 4096 * 256 + 2 * 4096 * 128 + 3 * 4096 * 896 + 2 * 4096);
}

// mamba2-2.7b: hidden 2560, inner 5120 in 80 heads, state 128, one group that both ranks keep.
TEST(ParameterShapes, AGroupOfStatesIsKeptWhole) {
  const describe::DataStore data;
  Shard shard;
  shard.tp = 2;
  const auto mamba = describe::load_model("mamba2-2.7b", data);
  ASSERT_TRUE(mamba);
  const std::int64_t hidden = 2560;
  const std::int64_t inner = 2560;  // of this rank
  const std::int64_t heads = 40;
  const std::int64_t convolved = inner + 256;  // two states of 128
  EXPECT_EQ(block_weights(*mamba, mamba->blocks[0], shard).dense,
            hidden * (inner + convolved + heads) + convolved * (4 + 1) + 3 * heads + inner +
                inner * hidden + hidden);
}

}  // namespace
}  // namespace sextant::workload
