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
      const auto* attention = std::get_if<describe::Attention>(&block.mixer);
      const auto* mamba = std::get_if<describe::Mamba2>(&block.mixer);
      const bool uneven = (attention != nullptr && attention->heads % shard.tp != 0) ||
                          (mamba != nullptr && mamba->groups % shard.tp != 0);
      if (uneven || (moe != nullptr && moe->experts % 2 != 0)) {
        continue;
      }
      shard.ep = moe != nullptr ? 2 : 1;
      Weights held;
      for_each_parameter(*model, block, [&](const ParameterShape& shape) {
        if (shape.experts > 0) {
          held.experts += shape.count * shape.experts / shard.ep * shape.local_rows(shard.etp) *
                          shape.local_columns(shard.etp);
        } else {
          held.dense += shape.count * shape.local_rows(shard.tp) * shape.local_columns(shard.tp);
        }
      });
      const Weights expected = block_weights(*model, block, shard);
      EXPECT_EQ(held.dense, expected.dense) << name;
      EXPECT_EQ(held.experts, expected.experts) << name;
    }
  }
}

}  // namespace
}  // namespace sextant::workload
