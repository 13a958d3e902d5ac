#include "cost/compute/operator_time.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "describe/cluster/load_cluster.h"

namespace sextant::cost {
namespace {

using describe::AttentionKernel;
using describe::DType;
using workload::Operator;
using workload::OpKind;
using workload::Pass;

const DeviceModel& h200() {
  static const DeviceModel kModel = [] {
    const describe::DataStore data;
    return *device_model(data, *describe::load_device("h200-sxm", data));
  }();
  return kModel;
}

Operator product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
  Operator op{.batch = batch, .m = m, .n = n, .k = k};
  const auto copies = static_cast<double>(batch);
  const auto rows = static_cast<double>(m);
  const auto columns = static_cast<double>(n);
  const auto depth = static_cast<double>(k);
  op.flops = Flops(2.0 * copies * rows * columns * depth);
  op.read = Bytes(2.0 * copies * depth * (rows + columns));
  op.written = Bytes(2.0 * copies * rows * columns);
  return op;
}

Operator attention(std::int64_t batch, std::int64_t heads, std::int64_t seq, std::int64_t dim) {
  Operator op{.kind = OpKind::kAttention, .batch = batch, .m = seq, .n = seq, .k = dim};
  op.heads = heads;
  op.kv_heads = heads;
  op.value_dim = dim;
  op.keys = static_cast<double>(seq) / 2.0;
  const double rows = static_cast<double>(batch * heads) * static_cast<double>(seq);
  op.flops = Flops(4.0 * rows * op.keys * static_cast<double>(dim));
  op.read = Bytes(6.0 * rows * static_cast<double>(dim));
  op.written = Bytes(2.0 * rows * static_cast<double>(dim));
  return op;
}

Operator stream(OpKind kind, std::int64_t m, std::int64_t n) {
  Operator op{.kind = kind, .m = m, .n = n};
  op.read = Bytes(2.0 * static_cast<double>(m) * static_cast<double>(n));
  op.written = op.read;
  return op;
}

double micros(const Operator& op, const DeviceModel& device = h200()) {
  return operator_time(op, device).total() / 1_us;
}

TEST(OperatorTime, WorkOfNoSizeCostsItsLaunch) {
  for (const auto& [kind, word] : workload::kOpKindWords) {
    const Operator op{.kind = kind};
    const OperatorCost cost = operator_time(op, h200());
    EXPECT_EQ(cost.total(), cost.launch) << word;
    EXPECT_GT(cost.launch, 0_s) << word;
  }
}

// 4 units of 1 TFLOP/s together, nothing else costs anything, no cut along k.
DeviceModel four_units() {
  DeviceModel device;
  device.units = 4.0;
  device.per_unit = 0.25;
  device.power_ramp = 1_s;
  device.rates.fill({.burst = SecondsPerFlop(1e-12), .slowdown = 0.0});
  device.product.split = 1_s;
  return device;
}

TEST(OperatorTime, TilesRunInWaves) {
  const DeviceModel device = four_units();
  // Tiles of 128×128 and k = 64: 2 · 128 · 128 · 64 flops each, a quarter of the rate a unit.
  const double tile = 2.0 * 128.0 * 128.0 * 64.0 / 0.25e12 * 1e6;
  EXPECT_NEAR(micros(product(128, 128, 64), device), tile, 1e-9);
  EXPECT_NEAR(micros(product(256, 256, 64), device), tile, 1e-9);        // four tiles, one wave
  EXPECT_NEAR(micros(product(640, 128, 64), device), 2.0 * tile, 1e-9);  // five, two waves
  EXPECT_NEAR(micros(product(1024, 128, 64), device), 2.0 * tile, 1e-9);
}

TEST(OperatorTime, SidesAreRoundedUpToTiles) {
  const DeviceModel device = four_units();
  EXPECT_EQ(micros(product(65, 100, 40), device), micros(product(128, 128, 64), device));
  EXPECT_LT(micros(product(64, 128, 64), device), micros(product(65, 128, 64), device));
}

TEST(OperatorTime, DeepProductsOfFewTilesAreCutAlongK) {
  DeviceModel device = four_units();
  const double uncut = micros(product(128, 128, 65536), device);
  device.product.split = 1_us;
  EXPECT_NEAR(micros(product(128, 128, 65536), device), uncut / 4.0 + 1.0, 1e-6);
}

// 2 · 16384³ flops at 0.715 · 989.4 TFLOP/s is 12.4 ms; the slowdown is nearly all there.
TEST(OperatorTime, LongProductsRunAtThePowerLimit) {
  const double flops = 2.0 * std::pow(16384.0, 3.0);
  const double sustained = flops / micros(product(16384, 16384, 16384)) / 1e6;
  EXPECT_NEAR(sustained, 0.715 * 989.4, 0.04 * 989.4);
}

TEST(OperatorTime, AddingToTheOutputCostsMoreThanWritingIt) {
  Operator op = product(4096, 4096, 1024);
  op.pass = Pass::kWeightGradient;
  const double written = micros(op);
  op.read += Bytes(4.0 * 4096.0 * 4096.0);
  EXPECT_GT(micros(op), written);
}

TEST(OperatorTime, GroupedProductsPayForEachExpert) {
  Operator op = product(128, 2048, 2048, 16);
  const double batched = micros(op);
  op.kind = OpKind::kGroupedGemm;
  EXPECT_NEAR(micros(op) - batched, 16.0 * (h200().product.group_launch / 1_us), 1e-6);
}

TEST(OperatorTime, AWindowMakesLongAttentionLinear) {
  Operator shorter = attention(1, 32, 32768, 128);
  Operator longer = attention(1, 32, 65536, 128);
  EXPECT_NEAR(micros(longer) / micros(shorter), 4.0, 0.1);
  shorter.keys = 4096.0;
  longer.keys = 4096.0;
  shorter.flops = Flops();
  longer.flops = Flops();
  EXPECT_NEAR(micros(longer) / micros(shorter), 2.0, 0.1);
}

TEST(OperatorTime, BackwardAttentionTakesLongerThanForward) {
  Operator op = attention(2, 32, 4096, 128);
  const double forward = micros(op);
  op.pass = Pass::kInputGradient;
  EXPECT_GT(micros(op), 2.5 * forward);
}

TEST(OperatorTime, TheHostIsTheFloorOfACallAlone) {
  const OperatorCost small = operator_time(stream(OpKind::kCopy, 16, 16), h200());
  EXPECT_EQ(small.alone(), h200().issue.elementwise);
  const OperatorCost large = operator_time(stream(OpKind::kCopy, 16384, 16384), h200());
  EXPECT_EQ(large.alone(), large.total());
}

std::int64_t size(std::int64_t most) {
  return *rc::gen::inRange<std::int64_t>(1, most);
}

DType random_dtype() {
  return *rc::gen::element(DType::kBf16, DType::kFp8, DType::kTf32, DType::kFp32);
}

Pass random_pass() {
  return *rc::gen::element(Pass::kForward, Pass::kInputGradient, Pass::kWeightGradient);
}

RC_GTEST_PROP(OperatorTime, MoreOfAProductIsNeverFaster, ()) {
  std::array<std::int64_t, 4> sides{size(20000), size(20000), size(20000), size(9)};
  const auto made = [&sides](DType dtype, Pass pass) {
    Operator op = product(sides[0], sides[1], sides[2], sides[3]);
    op.dtype = dtype;
    op.pass = pass;
    return op;
  };
  const DType dtype = random_dtype();
  const Pass pass = random_pass();
  const double before = micros(made(dtype, pass));
  sides[*rc::gen::inRange<std::size_t>(0, 4)] += size(3000);
  RC_ASSERT(micros(made(dtype, pass)) >= before * (1.0 - 1e-12));
}

RC_GTEST_PROP(OperatorTime, MoreAttentionIsNeverFaster, ()) {
  std::array<std::int64_t, 4> sides{size(16), size(64), size(20000), size(256)};
  const Pass pass = *rc::gen::element(Pass::kForward, Pass::kInputGradient);
  const auto made = [&] {
    Operator op = attention(sides[0], sides[1], sides[2], sides[3]);
    op.pass = pass;
    return op;
  };
  const double before = micros(made());
  sides[*rc::gen::inRange<std::size_t>(0, 4)] += size(300);
  RC_ASSERT(micros(made()) >= before * (1.0 - 1e-12));
}

RC_GTEST_PROP(OperatorTime, MoreStreamingIsNeverFaster, ()) {
  const OpKind kind = *rc::gen::element(OpKind::kNorm, OpKind::kActivation, OpKind::kLoss,
                                        OpKind::kOptimizer, OpKind::kCopy);
  const std::int64_t m = size(100000);
  const std::int64_t n = size(20000);
  const double before = micros(stream(kind, m, n));
  RC_ASSERT(micros(stream(kind, m + size(500), n)) >= before);
  RC_ASSERT(micros(stream(kind, m, n + size(500))) >= before);
}

// At the ceilings that were measured: burst rate, and the bandwidth of streams.
RC_GTEST_PROP(OperatorTime, NothingBeatsTheRoofline, ()) {
  Operator op = *rc::gen::arbitrary<bool>()
                    ? product(size(20000), size(20000), size(20000), size(9))
                    : attention(size(16), size(64), size(20000), size(512));
  op.dtype = random_dtype();
  op.pass = op.kind == OpKind::kGemm ? random_pass() : Pass::kForward;
  const Seconds time = operator_time(op, h200()).total();
  RC_ASSERT(time >= op.flops * h200().rate(op.dtype).burst);
  RC_ASSERT(time >= (op.read + op.written) * h200().stream.memory);
}

// One rank's attention in a ring of so many, as the walk lists it.
Operator ring_attention(std::int64_t heads, std::int64_t kv_heads, std::int64_t seq,
                        std::int64_t ranks, Pass pass) {
  Operator op = attention(1, heads, seq / ranks, 128);
  op.pass = pass;
  op.n = seq;
  op.kv_heads = kv_heads;
  op.keys = static_cast<double>(seq) / 2.0;
  op.kernels = static_cast<double>(ranks);
  const double rows = static_cast<double>(heads) * static_cast<double>(seq / ranks);
  op.flops = Flops((pass == Pass::kForward ? 4.0 : 10.0) * rows * op.keys * 128.0);
  return op;
}

// Finding 6 of the review of plan and estimate: attention took the same on a ring of 1 and of 8.
TEST(RingAttention, MoreRanksNeverTakeLessInAll) {
  for (const Pass pass : {Pass::kForward, Pass::kInputGradient}) {
    double least = 0.0;
    for (const std::int64_t ranks : {1, 2, 4, 8, 16}) {
      const Seconds one = operator_time(ring_attention(32, 8, 8192, ranks, pass), h200()).total();
      const double all = one / 1_us * static_cast<double>(ranks);
      EXPECT_GT(all, least) << ranks;
      least = all;
    }
  }
}

// data/measured/h200_ring_kernels.csv, flash, 32 heads: what the kernels of a ring
// take over a ranks-th of the whole sequence's kernel.
TEST(RingAttention, TakesMoreThanItsShareAsMeasuredOnAnH200) {
  struct Case {
    std::int64_t seq;
    std::int64_t ranks;
    double forward;
    double backward;
  };
  for (const Case& one :
       {Case{32768, 2, 1.02, 1.03}, Case{32768, 4, 1.02, 1.10}, Case{32768, 8, 1.03, 1.19},
        Case{8192, 2, 1.05, 1.10}, Case{8192, 4, 1.11, 1.28}}) {
    const auto over = [&](Pass pass) {
      const Seconds whole = operator_time(ring_attention(32, 8, one.seq, 1, pass), h200()).total();
      const Seconds ring =
          operator_time(ring_attention(32, 8, one.seq, one.ranks, pass), h200()).total();
      return ring * static_cast<double>(one.ranks) / whole;
    };
    EXPECT_NEAR(over(Pass::kForward), one.forward, 0.1 * one.forward)
        << one.seq << " " << one.ranks;
    EXPECT_NEAR(over(Pass::kInputGradient), one.backward, 0.1 * one.backward)
        << one.seq << " " << one.ranks;
  }
}

}  // namespace
}  // namespace sextant::cost
