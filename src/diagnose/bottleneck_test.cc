#include "diagnose/bottleneck.h"

#include <gtest/gtest.h>

namespace sextant::diagnose {
namespace {

using metrics::OperatorBound;

GuiltyOperator op(const std::string& name, double share, OperatorBound bound) {
  return {.name = name,
          .share = share,
          .bound = bound,
          .efficiency = std::nullopt,
          .is_collective = names_collective(name, "")};
}

TEST(Bottleneck, IsTheLargestPartOfAStep) {
  const std::vector<GuiltyOperator> products{op("dot", 1.0, OperatorBound::kCompute)};
  EXPECT_EQ(bottleneck_of({.duty_cycle = 0.9, .exposed = 0.1, .operators = products}).bottleneck,
            Bottleneck::kCompute);
  EXPECT_EQ(bottleneck_of({.duty_cycle = 0.3, .exposed = 0.1, .operators = products}).bottleneck,
            Bottleneck::kStall);
  EXPECT_EQ(bottleneck_of({.duty_cycle = 0.9, .exposed = 0.6, .operators = products}).bottleneck,
            Bottleneck::kCommunication);
  // The same, but ranks wait for one another for most of it.
  const BottleneckClass waits =
      bottleneck_of({.duty_cycle = 0.9, .exposed = 0.6, .waiting = 0.5, .operators = products});
  EXPECT_EQ(waits.bottleneck, Bottleneck::kStall);
  EXPECT_EQ(waits.reason, "waits for 60.0 % of the step, 83.3 % of it for other ranks");
}

TEST(Bottleneck, WhatBindsOperatorsOverrulesTheDutyCycle) {
  const BottleneckClass answer = bottleneck_of(
      {.duty_cycle = 0.99,
       .exposed = 0.0,
       .operators = {
           op("softmax", 0.5, OperatorBound::kMemory), op("dot", 0.3, OperatorBound::kCompute),
           op("norm", 0.1, OperatorBound::kMemory), op("sort", 0.1, OperatorBound::kUnknown)}});
  EXPECT_EQ(answer.bottleneck, Bottleneck::kMemory);
  EXPECT_EQ(answer.operators, (std::vector<std::string>{"softmax", "norm"}));
  // 0.6 of the 0.9 of which it is known.
  EXPECT_EQ(answer.reason,
            "busy 99.0 % of the step, yet memory binds 66.7 % of the operators' time that is "
            "known: what they do overrules the duty cycle");
}

// A profiler's report: KPIs and five operators, whose exposed time is not told.
TEST(Bottleneck, OfAReportIsWhatItsOperatorsAreBoundBy) {
  EXPECT_EQ(bottleneck_of({.duty_cycle = 0.2, .operators = {}}).bottleneck, Bottleneck::kStall);
  EXPECT_EQ(bottleneck_of({.duty_cycle = 0.99,
                           .operators = {op("all-reduce", 0.05, OperatorBound::kMemory),
                                         op("all-gather", 0.02, OperatorBound::kUnknown)}})
                .bottleneck,
            Bottleneck::kCommunication);
  EXPECT_EQ(bottleneck_of({.duty_cycle = 0.99,
                           .operators = {op("all-reduce", 0.05, OperatorBound::kMemory),
                                         op("add fusion", 0.02, OperatorBound::kMemory),
                                         op("attention", 0.02, OperatorBound::kCompute)}})
                .bottleneck,
            Bottleneck::kMemory);
  EXPECT_EQ(bottleneck_of({.duty_cycle = 0.99,
                           .operators = {op("all-to-all", 0.05, OperatorBound::kUnknown),
                                         op("dot", 0.02, OperatorBound::kCompute)}})
                .bottleneck,
            Bottleneck::kCompute);
}

TEST(Bottleneck, OfWhatNothingIsKnownSaysSo) {
  const BottleneckClass answer = bottleneck_of({.duty_cycle = 0.95, .operators = {}});
  EXPECT_EQ(answer.reason, "busy 95.0 % of the step; what binds its operators is not known");
  EXPECT_TRUE(answer.operators.empty());
}

TEST(Bottleneck, CollectivesAreToldByName) {
  EXPECT_TRUE(names_collective("all-reduce.1", ""));
  EXPECT_TRUE(names_collective("fusion.3", "all-reduce-scatter fusion"));
  EXPECT_TRUE(names_collective("Collective Permute", ""));
  EXPECT_TRUE(names_collective("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", ""));
  EXPECT_FALSE(names_collective("aten::mm", ""));
  EXPECT_FALSE(names_collective("all-gather matrix multiplication", "custom-call"));
}

}  // namespace
}  // namespace sextant::diagnose
