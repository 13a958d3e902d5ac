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

using Axes = std::vector<std::optional<Axis>>;

GroupUse bulk(std::vector<RankId> ranks) {
  return {.ranks = std::move(ranks), .others = 10, .bulk = 10};
}

TEST(Axis, OfNeighboursAndOfThoseThatStepOverThemIsInferred) {
  const GroupUse messages{.ranks = {{0}, {8}}, .messages = 4};
  const GroupUse exchanges{.ranks = {{0}, {1}}, .exchanges = 4, .others = 1};
  EXPECT_EQ(axes_inferred({bulk({{0}, {1}, {2}, {3}}), bulk({{0}, {4}}), messages, exchanges}),
            (Axes{Axis::kTensor, Axis::kData, Axis::kPipeline, Axis::kExpert}));
  // A norm over all ranks is for no axis.
  const GroupUse norm{.ranks = {{0}, {1}, {2}, {3}}, .others = 1};
  EXPECT_EQ(axes_inferred({norm}), Axes{std::nullopt});
}

TEST(Axis, OfAllReducesAloneIsToldByTheirSizes) {
  GroupUse one{.ranks = {{0}, {1}, {2}, {3}}, .others = 84, .bulk = 81, .bulk_reductions = 81};
  one.alike = 80;  // activations of 40 layers and one of another shape
  EXPECT_EQ(axes_inferred({one}), Axes{Axis::kTensor});
  one.alike = 27;  // three buckets in each of 27 steps
  EXPECT_EQ(axes_inferred({one}), Axes{Axis::kData});
  // No group is said, but there is no other either.
  one.ranks.clear();
  EXPECT_EQ(axes_inferred({one}), Axes{Axis::kData});
}

TEST(Axis, OfOneGroupThatGathersIsNotKnown) {
  EXPECT_EQ(axes_inferred({bulk({{0}, {1}, {2}, {3}})}), Axes{std::nullopt});
  // Messages between nobody knows whom may be anything: an exchange of heads, a pipeline.
  EXPECT_EQ(axes_inferred({GroupUse{.ranks = {}, .messages = 40}}), Axes{std::nullopt});
}

}  // namespace
}  // namespace sextant::diagnose
