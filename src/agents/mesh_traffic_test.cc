#include "agents/mesh_traffic.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "agents/case_testing.h"

namespace sextant::agents {
namespace {

using metrics::OperatorBound;

CaseOperator collective(const std::string& name, double share,
                        std::optional<std::int64_t> occurrences = {}) {
  return {.name = name,
          .category = name,
          .bound = OperatorBound::kUnknown,
          .share = share,
          .occurrences = occurrences};
}

Blames blamed(std::vector<CaseOperator> operators, const CaseMesh& mesh,
              diagnose::Bottleneck bottleneck = diagnose::Bottleneck::kCommunication,
              std::optional<std::int64_t> length = {}) {
  Case profiled = made_case();
  profiled.operators = std::move(operators);
  profiled.sequence_length = length;
  return blames_of(
      {.profiled = profiled, .mesh = mesh, .bottleneck = bottleneck, .hidden_block = 1000.0});
}

TEST(MeshTraffic, OneChipExchangesNothing) {
  const CaseMesh alone = mesh_of(1, 1, 1);
  for (const auto& [traffic, word] : kTrafficWords) {
    EXPECT_DOUBLE_EQ(traffic_ratio(traffic, alone, alone), 1.0) << word;
  }
  // Nothing before: nothing to compare with.
  EXPECT_DOUBLE_EQ(traffic_ratio(Traffic::kTensor, alone, mesh_of(1, 1, 8)), 1.0);
  // All of it gone.
  EXPECT_DOUBLE_EQ(traffic_ratio(Traffic::kTensor, mesh_of(1, 1, 8), mesh_of(8, 1, 1)), 0.0);
}

TEST(MeshTraffic, RatiosAreThoseOfTheTable) {
  // model 4 -> 2 with data 4 -> 8: tokens halve, (M − 1) / M falls from 3/4 to 1/2.
  EXPECT_DOUBLE_EQ(traffic_ratio(Traffic::kTensor, mesh_of(4, 16, 4), mesh_of(8, 16, 2)),
                   0.5 * (0.5 / 0.75));
  // seq 8 -> 4 with data 8 -> 16: 3/4 instead of 7/8 of half the tokens' keys.
  EXPECT_DOUBLE_EQ(traffic_ratio(Traffic::kSequence, mesh_of(8, 8, 8), mesh_of(16, 4, 8)),
                   0.5 * (0.75 / 0.875));
  // A quarter of the weights among 4 instead of 16.
  EXPECT_DOUBLE_EQ(traffic_ratio(Traffic::kGradients, mesh_of(4, 4, 1), mesh_of(4, 1, 4)),
                   0.25 * (0.75 / 0.9375));
  EXPECT_DOUBLE_EQ(traffic_ratio(Traffic::kWeights, mesh_of(4, 4, 1), mesh_of(4, 1, 4)), 0.25);
  EXPECT_DOUBLE_EQ(token_ratio(mesh_of(4, 4, 1), mesh_of(4, 1, 4)), 4.0);
}

RC_GTEST_PROP(MeshTraffic, RatiosThereAndBackCancel, ()) {
  const auto size = [] { return std::int64_t{1} << *rc::gen::inRange(1, 6); };
  const CaseMesh one = mesh_of(size(), size(), size());
  const CaseMesh other = mesh_of(size(), size(), size());
  for (const auto& [traffic, word] : kTrafficWords) {
    const double there = traffic_ratio(traffic, one, other);
    RC_ASSERT(std::abs(there * traffic_ratio(traffic, other, one) - 1.0) < 1e-12);
  }
  RC_ASSERT(token_ratio(one, other) * token_ratio(other, one) == 1.0);
}

TEST(MeshTraffic, WithoutOperatorsNobodyIsBlamed) {
  EXPECT_TRUE(blamed({}, mesh_of(4, 4, 4)).by_share.empty());
}

TEST(MeshTraffic, AnAllReduceIsOfTheModelAxisWhereThereIsOne) {
  EXPECT_EQ(blamed({collective("all-reduce", 0.1)}, mesh_of(4, 4, 4)).by_share.front().traffic,
            Traffic::kTensor);
  const Blames copied = blamed({collective("all-reduce", 0.1)}, mesh_of(4, 4, 1));
  EXPECT_EQ(copied.by_share.front().traffic, Traffic::kGradients);
  EXPECT_TRUE(copied.are_weights_copied);
}

TEST(MeshTraffic, WhatRunsLessOftenThanALayerSumsGradients) {
  const CaseOperator attention{
      .name = "splash attention", .category = {}, .share = 0.1, .occurrences = 1000};
  const auto of = [&](std::int64_t occurrences) {
    return blamed({attention, collective("all-reduce", 0.1, occurrences)}, mesh_of(4, 4, 4))
        .by_share.front()
        .traffic;
  };
  EXPECT_EQ(of(1000), Traffic::kTensor);
  EXPECT_EQ(of(950), Traffic::kTensor);  // a profile begins and ends inside a step
  EXPECT_EQ(of(500), Traffic::kGradients);
}

TEST(MeshTraffic, ARingIsOfTheSeqAxisUnlessItsBlocksHideIt) {
  const std::vector<CaseOperator> ring{collective("collective-permute", 0.1)};
  using enum diagnose::Bottleneck;
  EXPECT_EQ(blamed(ring, mesh_of(4, 4, 4)).by_share.front().traffic, Traffic::kSequence);
  // 8,192 tokens on 4 parts are blocks of 2,048, on 16 of 512; 1,000 hide their exchange.
  EXPECT_TRUE(blamed(ring, mesh_of(4, 4, 4), kCompute, 8192).by_share.empty());
  EXPECT_FALSE(blamed(ring, mesh_of(1, 16, 4), kCompute, 8192).by_share.empty());
  // Where collectives hold the run up they are not hidden, whatever arithmetic says.
  EXPECT_FALSE(blamed(ring, mesh_of(4, 4, 4), kCommunication, 8192).by_share.empty());
}

TEST(MeshTraffic, AFusedProductIsBlamedForWhatItsRoofLeaves) {
  const auto product = [](double efficiency) {
    return std::vector<CaseOperator>{{.name = "all-gather matrix multiplication",
                                      .category = "custom-call",
                                      .bound = OperatorBound::kCompute,
                                      .share = 0.1,
                                      .efficiency = efficiency}};
  };
  const Blames hidden = blamed(product(0.8), mesh_of(4, 4, 4));
  EXPECT_TRUE(hidden.by_share.empty());
  EXPECT_EQ(hidden.remarks.size(), 1U);
  const Blames open = blamed(product(0.25), mesh_of(4, 4, 4));
  EXPECT_EQ(open.by_share.front().traffic, Traffic::kTensor);
  EXPECT_DOUBLE_EQ(open.by_share.front().share, 0.75);
}

TEST(MeshTraffic, SharesAreOfTheToldTimeAndTheLargestComesFirst) {
  const Blames blames = blamed({collective("collective-permute", 0.1),
                                collective("all-reduce", 0.2),
                                {.name = "dot", .category = {}, .share = 0.1}},
                               mesh_of(4, 4, 4));
  ASSERT_EQ(blames.by_share.size(), 2U);
  EXPECT_EQ(blames.by_share[0].traffic, Traffic::kTensor);
  EXPECT_DOUBLE_EQ(blames.by_share[0].share, 0.5);
  EXPECT_DOUBLE_EQ(blames.by_share[1].share, 0.25);
}

}  // namespace
}  // namespace sextant::agents
