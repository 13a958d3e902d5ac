#include "verify/mesh_facts.h"

#include <gtest/gtest.h>

#include "verify/testing.h"

namespace sextant::verify {
namespace {

using describe::MeshAxes;

// A published job: 512 chips, a batch of 256 sequences of 8,192 tokens.
MeshFacts torus_job() {
  return {.chips = 512,
          .topology = {8, 8, 8},
          .batch = 256,
          .sequence_length = 8192,
          .runs = RunningMesh{.axes = {.data = 8, .tensor = 8, .sequence = 8}}};
}

TEST(MeshFacts, TheProductIsTheChips) {
  const MeshFacts facts = torus_job();
  EXPECT_FALSE(mesh_refusal(facts, {.data = 16, .tensor = 8, .sequence = 4}));
  const auto half = mesh_refusal(facts, {.data = 16, .tensor = 8, .sequence = 2});
  ASSERT_TRUE(half);
  EXPECT_EQ(half->ground, Ground::kDevices);
  EXPECT_NE(half->why.find("256 chips; there are 512"), std::string::npos) << half->why;
  const auto off = mesh_refusal(facts, {.data = 511});
  ASSERT_TRUE(off);
  EXPECT_EQ(off->ground, Ground::kDevices);
}

TEST(MeshFacts, BatchAndSequenceDivide) {
  MeshFacts facts = torus_job();
  EXPECT_TRUE(mesh_refusal(facts, {.data = 512}));
  facts.batch.reset();
  EXPECT_FALSE(mesh_refusal(facts, {.data = 512}));
  facts.sequence_length = 100;
  const auto refusal = mesh_refusal(facts, {.data = 64, .sequence = 8});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->ground, Ground::kRules);
}

TEST(MeshFacts, AnAxisHasASize) {
  EXPECT_EQ(mesh_refusal(torus_job(), {.data = 512, .tensor = 0})->ground, Ground::kWords);
  EXPECT_EQ(mesh_refusal(torus_job(), {.data = -512, .tensor = -1})->ground, Ground::kWords);
}

TEST(MeshFacts, ATopologyHasItsChips) {
  MeshFacts facts = torus_job();
  facts.topology = {8, 8};
  EXPECT_EQ(mesh_refusal(facts, {.data = 64, .tensor = 8})->ground, Ground::kDevices);
}

TEST(MeshFacts, WhereNoChipHoldsMoreItFits) {
  // Half the sequence ranks and twice the data ranks: as many tokens and weights a chip.
  const MeshMemory memory = mesh_memory(torus_job(), {.data = 16, .tensor = 8, .sequence = 4});
  ASSERT_TRUE(memory.fits) << memory.why;
  EXPECT_TRUE(*memory.fits);
  EXPECT_TRUE(memory.missing.empty());
}

TEST(MeshFacts, WhereOneLoadRisesNobodyKnows) {
  // Tensor 8 -> 4: each chip holds twice the weights.
  const MeshMemory memory = mesh_memory(torus_job(), {.data = 16, .tensor = 4, .sequence = 8});
  EXPECT_FALSE(memory.fits);
  ASSERT_EQ(memory.missing.size(), 1U);
  EXPECT_NE(memory.missing[0].find("x2 the weights a chip"), std::string::npos)
      << memory.missing[0];
}

// A run moved from 256 chips to 128 (facts: published case 4 of PROMPTS, MLSys 2026). Half the
// sequence ranks, or half the data ranks, means twice the tokens a chip: never certain to fit.
TEST(MeshFacts, FewerChipsHoldMore) {
  const MeshFacts facts{.chips = 128,
                        .topology = {8, 16},
                        .batch = 2,
                        .runs = RunningMesh{.axes = {.data = 2, .tensor = 4, .sequence = 32}}};
  for (const MeshAxes& axes : {MeshAxes{.data = 2, .tensor = 4, .sequence = 16},
                               MeshAxes{.data = 1, .tensor = 4, .sequence = 32}}) {
    EXPECT_FALSE(mesh_refusal(facts, axes));
    const std::vector<Load> loads = kinds_of_load(facts, axes);
    EXPECT_DOUBLE_EQ(loads[0].ratio, 2.0) << loads[0].what;
    EXPECT_FALSE(mesh_memory(facts, axes).fits);
  }
}

TEST(MeshFacts, ALargerBatchHoldsMore) {
  MeshFacts facts = torus_job();
  facts.runs->batch = 128;
  EXPECT_FALSE(mesh_memory(facts, {.data = 16, .tensor = 8, .sequence = 4}).fits);
  facts.runs->batch = 256;
  EXPECT_TRUE(mesh_memory(facts, {.data = 16, .tensor = 8, .sequence = 4}).fits);
}

TEST(MeshFacts, WithoutAModelNothingIsAccepted) {
  const Claim faster = claim_of(step::Quantity::kStep, step::Direction::kLower);
  Verdict verdict =
      judge_mesh(proposal_of("ici:data=16,tensor=8,sequence=4", {faster}), torus_job());
  EXPECT_EQ(verdict.ruling, Ruling::kUndecidable);
  EXPECT_EQ(verdict.ground, Ground::kClaims);
  EXPECT_EQ(verdict.claims[0].ruling, ClaimRuling::kCannotTell);
  EXPECT_FALSE(verdict.missing.empty());
  verdict = judge_mesh(proposal_of("ici:data=16,tensor=4,sequence=8"), torus_job());
  EXPECT_EQ(verdict.ruling, Ruling::kUndecidable);
  EXPECT_EQ(verdict.ground, Ground::kMemory);
  verdict = judge_mesh(proposal_of("ici:data=16,tensor=4,sequence=4"), torus_job());
  EXPECT_EQ(verdict.ruling, Ruling::kRejected);
  EXPECT_EQ(verdict.ground, Ground::kDevices);
  verdict = judge_mesh(proposal_of("ici:data=8,tensor=8,sequence=8"), torus_job());
  EXPECT_EQ(verdict.ruling, Ruling::kRejected);
  EXPECT_EQ(verdict.ground, Ground::kWords);
  EXPECT_EQ(judge_mesh(proposal_of("tp=8"), torus_job()).ground, Ground::kWords);
}

// Of chips of one product, a mesh that has more of every split fits, and the contrary never does
// for certain.
TEST(MeshFacts, FittingIsMonotonic) {
  MeshFacts facts = torus_job();
  facts.chips = 1024;
  facts.topology = {};
  for (const MeshAxes& axes : {MeshAxes{.data = 16, .tensor = 8, .sequence = 8},
                               MeshAxes{.data = 8, .tensor = 16, .sequence = 8},
                               MeshAxes{.data = 8, .tensor = 8, .sequence = 16}}) {
    EXPECT_TRUE(mesh_memory(facts, axes).fits);
    MeshFacts back = facts;
    back.runs->axes = axes;
    EXPECT_FALSE(mesh_memory(back, facts.runs->axes).fits);
  }
}

}  // namespace
}  // namespace sextant::verify
