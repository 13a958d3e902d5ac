#include "agents/mesh_moves.h"

#include <gtest/gtest.h>

#include "agents/case_testing.h"

namespace sextant::agents {
namespace {

// A case of our own with one operator, on its slice.
class MeshMovesTest : public ::testing::Test {
 protected:
  Moves moves() {
    auto slice = mesh_slice(asked_, 28'672, case_data());
    EXPECT_TRUE(slice) << to_text(slice.error());
    slice_ = std::move(*slice);
    blames_.by_share = {{.traffic = traffic_, .share = 0.5, .operators = {"one"}}};
    return moves_of({.profiled = asked_,
                     .slice = slice_,
                     .from = from_,
                     .blames = blames_,
                     .bottleneck = diagnose::Bottleneck::kCommunication,
                     .memory_scale = memory_scale_,
                     .wishes = wishes_});
  }

  Case asked_ = made_case();
  CaseMesh from_ = mesh_of(4, 4, 4);
  Traffic traffic_ = Traffic::kTensor;
  double memory_scale_ = 1.0;
  CaseWishes wishes_;
  MeshSlice slice_;
  Blames blames_;
};

TEST_F(MeshMovesTest, AMoveHandsAFactorOfOneAxisToAnother) {
  const Moves found = moves();
  ASSERT_FALSE(found.ranked.empty());
  EXPECT_TRUE(found.is_same_size);
  for (const MeshMove& move : found.ranked) {
    EXPECT_EQ(move.mesh.chips(), 64);
    int changed = 0;
    for (const auto& [axis, word] : kCaseAxisWords) {
      changed += move.mesh[axis] == from_[axis] ? 0 : 1;
    }
    EXPECT_EQ(changed, 2) << to_text(move.mesh);
  }
}

TEST_F(MeshMovesTest, TheScoreIsTheProductOfItsTermsAndTheBestIsFirst) {
  const Moves found = moves();
  double last = 1e9;
  for (const MeshMove& move : found.ranked) {
    double product = 1.0;
    for (const ScoreTerm& term : move.terms) {
      product *= term.factor;
    }
    EXPECT_DOUBLE_EQ(move.score, product);
    EXPECT_LE(move.score, last + 1e-9);
    last = move.score;
  }
}

TEST_F(MeshMovesTest, NothingBlamedMeansNothingToMove) {
  traffic_ = Traffic::kTensor;
  from_ = mesh_of(16, 4, 1);  // no model axis: its traffic is none
  EXPECT_TRUE(moves().ranked.empty());
}

TEST_F(MeshMovesTest, TheBatchBoundsTheDataAxis) {
  asked_.batch = 4;
  for (const MeshMove& move : moves().ranked) {
    EXPECT_LE(move.mesh.batch_parts(), 4) << to_text(move.mesh);
  }
  asked_.batch.reset();
  const Moves unknown = moves();
  for (const MeshMove& move : unknown.ranked) {
    EXPECT_LE(move.mesh.batch_parts(), 4) << to_text(move.mesh);
  }
  EXPECT_FALSE(unknown.unknown.empty());
}

TEST_F(MeshMovesTest, TheSeqAxisIsLengthenedOnlyWhereItsBlocksHideTheirExchange) {
  const auto lengthens = [&] {
    return std::ranges::any_of(moves().ranked,
                               [](const MeshMove& move) { return move.mesh[CaseAxis::kSeq] > 4; });
  };
  asked_.sequence_length = 8192;  // blocks of 1,024: 1,530 are needed
  EXPECT_FALSE(lengthens());
  asked_.sequence_length = 16 * 1530;
  EXPECT_TRUE(lengthens());
  asked_.sequence_length.reset();
  EXPECT_FALSE(lengthens());
}

TEST_F(MeshMovesTest, TheModelAxisIsNoLongerThanItsLinksAllow) {
  traffic_ = Traffic::kGradients;
  const Moves found = moves();
  for (const MeshMove& move : found.ranked) {
    EXPECT_LE(move.mesh[CaseAxis::kModel], 8) << to_text(move.mesh);
  }
  EXPECT_TRUE(std::ranges::any_of(found.refused, [](const RefusedMove& refused) {
    return refused.rule == "model-axis-bound";
  }));
}

TEST_F(MeshMovesTest, LessMemoryAChipIsALowerChanceToFit) {
  const double before = moves().ranked.front().score;
  memory_scale_ = 2.0;
  EXPECT_LT(moves().ranked.front().score, before);
}

TEST_F(MeshMovesTest, OnASliceOfHalfTheChipsAxesGiveUpAFactorOfTwo) {
  asked_.chips = 32;
  asked_.topology = Topology{2, 4, 4};
  const Moves found = moves();
  EXPECT_FALSE(found.is_same_size);
  ASSERT_FALSE(found.ranked.empty());
  for (const MeshMove& move : found.ranked) {
    EXPECT_EQ(move.mesh.chips(), 32);
    EXPECT_EQ(move.rule, "other-slice");
  }
}

TEST_F(MeshMovesTest, LoadsAreOneAgainstTheSameMesh) {
  for (const verify::Load& load : mesh_loads(from_, from_, 1.0)) {
    EXPECT_DOUBLE_EQ(load.ratio, 1.0) << load.what;
  }
  for (const verify::Load& load : mesh_loads(from_, from_, 2.0)) {
    EXPECT_DOUBLE_EQ(load.ratio, 2.0) << load.what;
  }
}

TEST_F(MeshMovesTest, OneMeshIsAssessedAsAmongAllOthers) {
  const Moves found = moves();
  const MeshMove& first = found.ranked.front();
  const AssessedMesh alone = assessed({.profiled = asked_,
                                       .slice = slice_,
                                       .from = from_,
                                       .blames = blames_,
                                       .bottleneck = diagnose::Bottleneck::kCommunication,
                                       .wishes = wishes_},
                                      first.mesh);
  EXPECT_FALSE(alone.refused);
  EXPECT_DOUBLE_EQ(alone.move.score, first.score);
}

TEST_F(MeshMovesTest, FirstMeshesSplitTheBatchBeforeAnythingElse) {
  auto slice = mesh_slice(asked_, 28'672, case_data());
  ASSERT_TRUE(slice);
  EXPECT_EQ(to_text(first_meshes(asked_, *slice, {}).ranked.front().mesh), "data=64");
  asked_.batch = 8;
  const Moves few = first_meshes(asked_, *slice, {});
  EXPECT_EQ(few.ranked.front().mesh[CaseAxis::kData], 8);
  for (const MeshMove& move : few.ranked) {
    EXPECT_LE(move.mesh[CaseAxis::kModel], 8) << to_text(move.mesh);
  }
}

}  // namespace
}  // namespace sextant::agents
