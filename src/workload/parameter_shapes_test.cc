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

// Halved by tensor parallelism, experts by both of their axes.
Weights halved(const describe::Model& model, const describe::Block& block, const Shard& shard) {
  Weights held;
  for_each_parameter(model, block, [&](const ParameterShape& shape) {
    if (shape.experts > 0) {
      held.experts += shape.count * shape.experts / shard.ep * shape.local_rows(shard.etp) *
                      shape.local_columns(shard.etp);
    } else {
      held.dense += shape.count * shape.local_rows(shard.tp) * shape.local_columns(shard.tp);
    }
  });
  return held;
}

bool divides_by_two(const describe::Block& block) {
  if (const auto* attention = std::get_if<describe::Attention>(&block.mixer)) {
    return attention->heads % 2 == 0;
  }
  const auto* mamba = std::get_if<describe::Mamba2>(&block.mixer);
  return mamba == nullptr || mamba->groups % 2 == 0;
}

TEST(ParameterShapes, SplitLikeTheWeightsOfARank) {
  const describe::DataStore data;
  for (const std::string& name : describe::catalogue_names(data)) {
    const auto model = describe::load_model(name, data);
    ASSERT_TRUE(model) << name;
    Shard shard;
    shard.tp = 2;
    shard.etp = 2;
    for (const describe::Block& block : model->blocks) {
      const auto* moe = std::get_if<describe::MoeFfn>(&block.ffn);
      shard.ep = moe != nullptr && moe->experts % 2 == 0 ? 2 : 1;
      if (divides_by_two(block)) {
        const Weights expected = block_weights(*model, block, shard);
        EXPECT_EQ(halved(*model, block, shard).dense, expected.dense) << name;
        EXPECT_EQ(halved(*model, block, shard).experts, expected.experts) << name;
      }
    }
  }
}

}  // namespace
}  // namespace sextant::workload
