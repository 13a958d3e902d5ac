#include "diagnose/axis.h"

#include <gtest/gtest.h>

namespace sextant::diagnose {
namespace {

TEST(Axis, IsWhatAGroupsNameSays) {
  EXPECT_EQ(axis_said("TENSOR_MODEL_PARALLEL_GROUP"), Axis::kTensor);
  EXPECT_EQ(axis_said("PIPELINE_MODEL_PARALLEL_GROUP"), Axis::kPipeline);
  EXPECT_EQ(axis_said("DATA_PARALLEL_GROUP_WITH_CP"), Axis::kData);
  EXPECT_EQ(axis_said("CONTEXT_PARALLEL_GROUP"), Axis::kContext);
  EXPECT_EQ(axis_said("EXPERT_MODEL_PARALLEL_GROUP"), Axis::kExpert);
  EXPECT_EQ(axis_said("EXPERT_DATA_PARALLEL_GROUP"), Axis::kData);
  EXPECT_EQ(axis_said("EXPERT_TENSOR_PARALLEL_GROUP"), Axis::kTensor);
  EXPECT_EQ(axis_said("EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP"), Axis::kExpert);
  EXPECT_EQ(axis_said("mesh_dp_shard"), Axis::kData);
  EXPECT_EQ(axis_said("mesh_dp_shard_cp"), Axis::kData);
  EXPECT_EQ(axis_said("mesh_tp"), Axis::kTensor);
}

TEST(Axis, IsNotKnownWhereANameSaysNoneOrTwo) {
  EXPECT_EQ(axis_said(""), std::nullopt);
  EXPECT_EQ(axis_said("default_pg"), std::nullopt);
  EXPECT_EQ(axis_said("MODEL_PARALLEL_GROUP"), std::nullopt);
  EXPECT_EQ(axis_said("TENSOR_AND_DATA_PARALLEL_GROUP"), std::nullopt);
  EXPECT_EQ(axis_said("17"), std::nullopt);
}

GroupUse bulk(std::vector<RankId> ranks) {
  return {.ranks = std::move(ranks), .others = 10, .is_bulk = true};
}

TEST(Axis, OfNeighboursAndOfThoseThatStepOverThemIsInferred) {
  using Axes = std::vector<std::optional<Axis>>;
  const GroupUse messages{.ranks = {{0}, {8}}, .messages = 4};
  const GroupUse exchanges{.ranks = {{0}, {1}}, .exchanges = 4, .others = 1};
  EXPECT_EQ(axes_inferred({bulk({{0}, {1}, {2}, {3}}), bulk({{0}, {4}}), messages, exchanges}),
            (Axes{Axis::kTensor, Axis::kData, Axis::kPipeline, Axis::kExpert}));
  // All ranks and no other group: DDP, FSDP or tp, nobody can tell.
  EXPECT_EQ(axes_inferred({bulk({{0}, {1}, {2}, {3}})}), Axes{std::nullopt});
  // A norm over all ranks is for no axis.
  const GroupUse norm{.ranks = {{0}, {1}, {2}, {3}}, .others = 1};
  EXPECT_EQ(axes_inferred({norm, bulk({{0}, {2}})}), (Axes{std::nullopt, std::nullopt}));
}

}  // namespace
}  // namespace sextant::diagnose
