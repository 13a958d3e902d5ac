// What is counted and told of XLA's instructions.
#include <gtest/gtest.h>

#include "profile/hlo_collective.h"
#include "profile/hlo_count.h"
#include "profile/hlo_match.h"
#include "profile/hlo_testing.h"

namespace sextant::profile {
namespace {

const HloComputation& entry_of(const HloModule& module) {
  return module.computations.at(module.entry);
}
const HloInstruction& last_of(const HloModule& module) {
  return entry_of(module).instructions.back();
}

WireWriter contracting(std::int64_t dimension) {
  return WireWriter().message(30, WireWriter().packed(1, {dimension}));
}

TEST(HloCount, ADotIsTwoMnkAndReadsAndWritesItsArraysOnce) {
  const HloModule module = module_of(hlo_proto(
      "m",
      {computation_proto(
          1, {{1, "a", "parameter", array_shape(kTestBf16, {4, 8})},
              {2, "b", "parameter", array_shape(kTestBf16, {8, 16})},
              {3, "dot.1", "dot", array_shape(kTestF32, {4, 16}), {1, 2}, contracting(1)}})},
      1, {1, 2, 3}));
  HloCounter counter(module);
  // 2 · 4 · 16 · 8; 2 · 32 + 2 · 128 + 4 · 64 bytes.
  EXPECT_EQ(counter.flops(entry_of(module), last_of(module)), 1024_flop);
  EXPECT_EQ(counter.bytes(entry_of(module), last_of(module)), 576_B);
}

// The result of cuBLAS's call is the product and a workspace.
TEST(HloCount, AProductOfCublasSaysItsDimensionsInItsConfiguration) {
  const WireWriter result = WireWriter()
                                .number(2, static_cast<int>(HloType::kTuple))
                                .message(4, array_shape(kTestBf16, {3, 4, 16}))
                                .message(4, array_shape(static_cast<int>(HloType::kS8), {1 << 20}));
  const WireWriter more =
      WireWriter()
          .bytes(28, "__cublas$lt$matmul")
          .bytes(43, R"({"gemm_backend_config":{"dot_dimension_numbers":{)"
                     R"("lhs_contracting_dimensions":["2"],"rhs_contracting_dimensions":["1"]}}})");
  const HloModule module = module_of(
      hlo_proto("m",
                {computation_proto(1, {{1, "a", "parameter", array_shape(kTestBf16, {3, 4, 8})},
                                       {2, "b", "parameter", array_shape(kTestBf16, {3, 8, 16})},
                                       {3, "custom-call.1", "custom-call", result, {1, 2}, more}})},
                1, {1, 2, 3}));
  HloCounter counter(module);
  EXPECT_EQ(counter.flops(entry_of(module), last_of(module)), Flops(3 * 2 * 4 * 16 * 8));
  EXPECT_EQ(counter.bytes(entry_of(module), last_of(module)), Bytes(2 * 3 * (32 + 128 + 64)));
}

TEST(HloCount, ACallThatWeDoNotKnowIsUnknown) {
  const HloModule module =
      module_of(hlo_proto("m",
                          {computation_proto(1, {{3,
                                                  "custom-call.1",
                                                  "custom-call",
                                                  array_shape(kTestF32, {4}),
                                                  {},
                                                  WireWriter().bytes(28, "my_kernel")}})},
                          1, {3}));
  HloCounter counter(module);
  EXPECT_FALSE(counter.flops(entry_of(module), last_of(module)));
}

// 2 · (2·6·6·32 results) · (3·3·16 inputs of each), forward and in both gradients alike.
TEST(HloCount, AConvolutionAndItsGradientsTakeTheSame) {
  const WireWriter numbers = WireWriter().message(16, WireWriter().number(3, 2).number(4, 3));
  const auto flops = [&](const std::string& target, const WireWriter& left, const WireWriter& right,
                         const WireWriter& result) {
    const HloModule module = module_of(hlo_proto(
        "m",
        {computation_proto(
            1, {{1, "a", "parameter", left},
                {2, "b", "parameter", right},
                {3, "c", "custom-call", result, {1, 2}, WireWriter(numbers).bytes(28, target)}})},
        1, {1, 2, 3}));
    HloCounter counter(module);
    return counter.flops(entry_of(module), last_of(module)).value_or(Flops(0)).base();
  };
  const WireWriter input = array_shape(kTestBf16, {2, 8, 8, 16});
  const WireWriter kernel = array_shape(kTestBf16, {3, 3, 16, 32});
  const WireWriter output = array_shape(kTestBf16, {2, 6, 6, 32});
  const double expected = 2.0 * 2 * 6 * 6 * 32 * 3 * 3 * 16;
  EXPECT_EQ(flops("__cudnn$convForward", input, kernel, output), expected);
  EXPECT_EQ(flops("__cudnn$convBackwardInput", output, kernel, input), expected);
  EXPECT_EQ(flops("__cudnn$convBackwardFilter", input, output, kernel), expected);
}

// Two products of 2·b·h·s·s·d forward, five backward; half where the mask is causal.
TEST(HloCount, AttentionIsItsProducts) {
  const WireWriter heads = array_shape(kTestBf16, {2, 4, 64, 16});
  const auto flops = [&](const std::string& target, const std::string& config) {
    const HloModule module = module_of(
        hlo_proto("m",
                  {computation_proto(1, {{1, "q", "parameter", heads},
                                         {2, "k", "parameter", heads},
                                         {3, "v", "parameter", heads},
                                         {4,
                                          "c",
                                          "custom-call",
                                          heads,
                                          {1, 2, 3},
                                          WireWriter().bytes(28, target).bytes(43, config)}})},
                  1, {1, 2, 3, 4}));
    HloCounter counter(module);
    return counter.flops(entry_of(module), last_of(module)).value_or(Flops(0)).base();
  };
  const double product = 2.0 * 2 * 4 * 64 * 64 * 16;
  EXPECT_EQ(flops("__cudnn$fmhaSoftmax", "{}"), 2 * product);
  EXPECT_EQ(flops("__cudnn$fmhaSoftmaxBackward", "{}"), 5 * product);
  EXPECT_EQ(flops("__cudnn$fmhaSoftmax", R"({"mask_type":"CAUSAL"})"), product);
}

// A fusion that gathers rows of a table reads the rows, not the table.
TEST(HloCount, AFusionIsItsInstructionsAndReadsWhatItTakes) {
  const WireWriter fused = computation_proto(
      7, {{71, "p0", "parameter", array_shape(kTestF32, {1000, 8})},
          {72, "p1", "parameter", array_shape(static_cast<int>(HloType::kS32), {4})},
          {73, "g", "gather", array_shape(kTestF32, {4, 8}), {71, 72}},
          {74, "add", "add", array_shape(kTestF32, {4, 8}), {73, 73}},
          {75, "exp", "exponential", array_shape(kTestF32, {4, 8}), {74}}});
  const HloModule module = module_of(hlo_proto(
      "m",
      {fused, computation_proto(
                  1, {{1, "a", "parameter", array_shape(kTestF32, {1000, 8})},
                      {2, "i", "parameter", array_shape(static_cast<int>(HloType::kS32), {4})},
                      {3,
                       "loop_fusion.1",
                       "fusion",
                       array_shape(kTestF32, {4, 8}),
                       {1, 2},
                       WireWriter().number(38, 7).bytes(11, "kLoop")}})},
      1, {1, 2, 3}));
  HloCounter counter(module);
  EXPECT_EQ(counter.flops(entry_of(module), last_of(module)), 32_flop);
  EXPECT_EQ(counter.bytes(entry_of(module), last_of(module)), Bytes(128 + 128 + 16));
  EXPECT_EQ(hlo_category(last_of(module)), "loop fusion");
}

// Each computation calls the next twice: 2^60 instructions, if each were walked.
TEST(HloCount, ComputationsThatShareOthersAreCountedOnce) {
  std::vector<WireWriter> computations;
  for (int level = 1; level <= 60; ++level) {
    const WireWriter call = WireWriter().number(38, level + 1);
    computations.push_back(
        computation_proto(level, {{1, "x", "fusion", array_shape(kTestF32, {1}), {}, call},
                                  {2, "y", "fusion", array_shape(kTestF32, {1}), {}, call}}));
  }
  computations.push_back(computation_proto(61, {{1, "z", "add", array_shape(kTestF32, {1})}}));
  const HloModule module = module_of(hlo_proto("m", computations, 1, {1, 2}));
  HloCounter counter(module);
  EXPECT_EQ(counter.flops(entry_of(module), last_of(module)), Flops(576460752303423488.0));  // 2^59
  // One that calls itself ends too.
  const HloModule loop = module_of(hlo_proto(
      "m",
      {computation_proto(
          1, {{1, "x", "fusion", array_shape(kTestF32, {1}), {}, WireWriter().number(38, 1)}})},
      1, {1}));
  HloCounter looped(loop);
  EXPECT_EQ(looped.flops(entry_of(loop), last_of(loop)), 0_flop);
}

// Two partitions of two replicas on devices 0, 2 and 1, 3.
WireWriter assignment() {
  WireWriter devices;
  devices.number(1, 2).number(2, 2);
  devices.message(3, WireWriter().packed(1, {0, 2})).message(3, WireWriter().packed(1, {1, 3}));
  return WireWriter().message(15, devices);
}

std::optional<HloCommunication> all_reduce_with(const WireWriter& fields, std::int64_t device) {
  const HloModule module = module_of(hlo_proto(
      "m",
      {computation_proto(
          1, {{1, "a", "parameter", array_shape(kTestBf16, {1000})},
              {2,
               "all-reduce-start.1",
               "all-reduce-start",
               array_shape(kTestBf16, {1000}),
               {1},
               fields},
              {3, "all-reduce-done.1", "all-reduce-done", array_shape(kTestBf16, {1000}), {2}}})},
      1, {1, 2, 3}, assignment()));
  return communication_of(module, entry_of(module), last_of(module), device);
}

// Source of the modes: xla/xla_data.proto, CollectiveOpGroupMode.
TEST(HloCollective, GroupsAreOfReplicasPartitionsOrBoth) {
  const WireWriter pair = WireWriter().message(49, WireWriter().packed(1, {0, 1}));
  // Replicas 0 and 1 of device 1's partition.
  auto found = all_reduce_with(pair, 1);
  ASSERT_TRUE(found && found->group);
  EXPECT_EQ(found->group->ranks, (std::vector<RankId>{{1}, {3}}));
  // With a channel: partitions 0 and 1 of its replica.
  found = all_reduce_with(WireWriter(pair).number(26, 5), 2);
  ASSERT_TRUE(found && found->group);
  EXPECT_EQ(found->group->ranks, (std::vector<RankId>{{2}, {3}}));
  // Flattened: replica · partitions + partition, so 1 and 2 are devices 1 and 2.
  const WireWriter flat = WireWriter()
                              .message(49, WireWriter().packed(1, {1, 2}))
                              .message(49, WireWriter().packed(1, {0, 3}))
                              .number(26, 5)
                              .number(71, 1);
  found = all_reduce_with(flat, 2);
  ASSERT_TRUE(found && found->group);
  EXPECT_EQ(found->group->ranks, (std::vector<RankId>{{1}, {2}}));
  // A device that the module has not: the size, since all groups have it.
  found = all_reduce_with(flat, 9);
  ASSERT_TRUE(found && found->group);
  EXPECT_TRUE(found->group->ranks.empty());
  EXPECT_EQ(found->group->size, 2);
}

TEST(HloCollective, ItsBuffersAndTheirElementAreTold) {
  const auto found = all_reduce_with({}, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->collective.op, CollectiveOp::kAllReduce);
  EXPECT_EQ(found->collective.word, "all-reduce-done");
  EXPECT_EQ(found->collective.element, timeline::ElementType::kBfloat16);
  EXPECT_EQ(found->collective.input, 2000_B);
  EXPECT_EQ(found->collective.output, 2000_B);
  EXPECT_EQ(found->bytes, 2000_B);
  // No groups: everybody.
  EXPECT_EQ(found->group->size, 4);
}

// [2,2]<=[2,2]T(1,0): 0, 2 and 1, 3.
TEST(HloCollective, GroupsThatAreCountedAreWrittenOut) {
  const WireWriter iota =
      WireWriter().number(1, 2).number(2, 2).packed(3, {2, 2}).packed(4, {1, 0});
  const WireWriter fields =
      WireWriter().message(87, WireWriter().message(2, iota)).number(26, 1).number(71, 1);
  const auto found = all_reduce_with(fields, 1);
  ASSERT_TRUE(found && found->group);
  // Flattened 0 is device 0, 2 is device 2; 1 and 3 are 1 and 3.
  EXPECT_EQ(found->group->ranks, (std::vector<RankId>{{1}, {3}}));
  // An order that is none is no group.
  const WireWriter wrong =
      WireWriter().number(1, 2).number(2, 2).packed(3, {2, 2}).packed(4, {1, 1});
  EXPECT_FALSE(all_reduce_with(WireWriter().message(87, WireWriter().message(2, wrong)), 1)
                   ->collective.group);
}

TEST(HloCollective, WordsAreThoseOfOpcodesAndNames) {
  EXPECT_EQ(collective_of_word("all-gather.3")->op, CollectiveOp::kAllGather);
  EXPECT_EQ(collective_of_word("all-gather-start.3")->word, "all-gather-start");
  EXPECT_EQ(collective_of_word("collective-permute-done")->op, CollectiveOp::kSendReceive);
  EXPECT_EQ(collective_of_word("reduce-scatter fusion")->op, CollectiveOp::kReduceScatter);
  EXPECT_FALSE(collective_of_word("reduce.3"));
  EXPECT_FALSE(collective_of_word("sender"));
  EXPECT_FALSE(collective_of_word("fusion.1"));
}

HloModule scheduled() {
  const WireWriter call = WireWriter().bytes(28, "__cublas$gemm");
  const WireWriter shape = array_shape(kTestF32, {2});
  return module_of(
      hlo_proto("m",
                {computation_proto(1, {{1, "p", "parameter", shape},
                                       {2, "loop_add_fusion", "fusion", shape},
                                       {3, "custom-call.1", "custom-call", shape, {}, call},
                                       {4, "loop_add_fusion.3", "fusion", shape},
                                       {5, "custom-call.2", "custom-call", shape, {}, call},
                                       {6, "bitcast.1", "bitcast", shape}})},
                1, {1, 2, 3, 6, 4, 5}));
}

// A kernel made once serves alike instructions, under one of their names.
TEST(HloMatch, KernelsTakeTheInstructionsOfTheScheduleInTurn) {
  const HloModule module = scheduled();
  HloMatcher matcher(module);
  for (int run = 0; run < 3; ++run) {
    EXPECT_EQ(matcher.next("loop_add_fusion_3")->instruction->id, 2);
    EXPECT_EQ(matcher.next("nvjet_tst_128x128")->instruction->id, 3);
    EXPECT_EQ(matcher.next("loop_add_fusion_3")->instruction->id, 4);
    EXPECT_EQ(matcher.next("nvjet_tst_128x128")->instruction->id, 5);
  }
}

TEST(HloMatch, ACallThatRunsInSeveralKernelsIsFirstOnce) {
  const HloModule module = scheduled();
  HloMatcher matcher(module);
  matcher.next("loop_add_fusion");
  const auto first = matcher.next("gemm");
  const auto further = matcher.next("splitKreduce_kernel");
  EXPECT_EQ(first->instruction->id, 3);
  EXPECT_TRUE(first->is_first);
  ASSERT_TRUE(further);
  EXPECT_EQ(further->instruction->id, 3);
  EXPECT_FALSE(further->is_first);
  EXPECT_EQ(matcher.next("loop_add_fusion")->instruction->id, 4);
}

TEST(HloMatch, WhatFitsNothingIsNothing) {
  const HloModule module = module_of(hlo_proto(
      "m", {computation_proto(1, {{2, "loop_add_fusion", "fusion", array_shape(kTestF32, {2})}})},
      1, {2}));
  HloMatcher matcher(module);
  EXPECT_FALSE(matcher.next("gemm"));
  EXPECT_TRUE(matcher.next("loop_add_fusion_7"));
}

}  // namespace
}  // namespace sextant::profile
