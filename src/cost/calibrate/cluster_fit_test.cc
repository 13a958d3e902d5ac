#include "cost/calibrate/cluster_fit.h"

#include <cmath>

#include <gtest/gtest.h>

#include "cost/comm/collective_time.h"
#include "cost/compute/operator_time.h"

namespace sextant::cost {
namespace {

using describe::CollectiveOp;

const ClusterConstants& made_up() {
  static const ClusterConstants kConstants{
      .product_rate = FlopsPerSecond(200e9),
      .reduce_start = 300_us,
      .reduce_hop = 200_us,
      .reduce_rates = {BytesPerSecond(1.2e9), BytesPerSecond(1.5e9), BytesPerSecond(1.8e9)},
      .message_start = 100_us,
      .message_rate = BytesPerSecond(3e9)};
  return kConstants;
}

// Timings that the constants explain exactly.
ClusterBench bench_of(const ClusterConstants& constants) {
  ClusterBench bench;
  for (const double work : {1e8, 1e9, 1e10}) {
    bench.products.push_back({Flops(work), Flops(work) / constants.product_rate});
  }
  for (const double bytes : {4e3, 64e3, 256e3, 1e6, 4e6, 16e6}) {
    for (const std::int64_t ranks : {2, 4, 8}) {
      const auto others = static_cast<double>(ranks - 1);
      const auto rate = constants.reduce_rates[ranks == 2 ? 0 : ranks == 4 ? 1 : 2];
      const double volume = 2.0 * others / static_cast<double>(ranks);
      bench.all_reduces.push_back({ranks, Bytes(bytes),
                                   constants.reduce_start + constants.reduce_hop * (2.0 * others) +
                                       Bytes(bytes * volume) / rate});
    }
    bench.messages.push_back(
        {2, Bytes(bytes), constants.message_start + Bytes(bytes) / constants.message_rate});
  }
  return bench;
}

void expect_near(double found, double wanted) {
  EXPECT_NEAR(found / wanted, 1.0, 0.02);
}

TEST(ClusterFit, NothingToFitFromIsAnError) {
  EXPECT_FALSE(fit_cluster({}));
  ClusterBench bench = bench_of(made_up());
  bench.messages.front().time = Seconds();
  EXPECT_FALSE(fit_cluster(bench));
  bench = bench_of(made_up());
  bench.all_reduces.front().ranks = 1;
  EXPECT_FALSE(fit_cluster(bench));
}

TEST(ClusterFit, FindsTheConstantsBehindTimings) {
  const auto found = fit_cluster(bench_of(made_up()));
  ASSERT_TRUE(found);
  expect_near(found->product_rate.base(), made_up().product_rate.base());
  expect_near(found->reduce_start.base(), made_up().reduce_start.base());
  expect_near(found->reduce_hop.base(), made_up().reduce_hop.base());
  for (std::size_t i = 0; i < found->reduce_rates.size(); ++i) {
    expect_near(found->reduce_rates[i].base(), made_up().reduce_rates[i].base());
  }
  expect_near(found->message_start.base(), made_up().message_start.base());
  expect_near(found->message_rate.base(), made_up().message_rate.base());
  EXPECT_NEAR(found->product_spread, 0.0, 1e-9);
  EXPECT_LT(found->reduce_error, 0.01);
  EXPECT_LT(found->message_error, 0.01);
}

TEST(ClusterFit, SpreadOfProductsIsThatOfTheirLogarithms) {
  ClusterBench bench = bench_of(made_up());
  const Flops work(1e9);
  const Seconds time = work / made_up().product_rate;
  // One twice as slow as the other: each is ln 2 / 2 from their mean.
  bench.products = {{work, time}, {work, time * 2.0}};
  const auto found = fit_cluster(bench);
  ASSERT_TRUE(found);
  expect_near(found->product_spread, std::log(2.0) / 2.0);
  expect_near(found->product_rate.base(), made_up().product_rate.base() / std::sqrt(2.0));
}

TEST(ClusterFit, ExpectedLargestOfNormals) {
  EXPECT_NEAR(expected_largest(1), 0.0, 1e-6);
  EXPECT_NEAR(expected_largest(2), 1.0 / std::sqrt(std::acos(-1.0)), 1e-4);  // 1 / √π
  // Source: Harter 1961, expected values of normal order statistics.
  EXPECT_NEAR(expected_largest(4), 1.02938, 1e-4);
  EXPECT_NEAR(expected_largest(8), 1.42360, 1e-4);
}

TEST(ClusterModels, AllReduceIsTheFittedRing) {
  const CommModel model = cluster_comm(made_up(), 8);
  for (const TimedMessage& row : bench_of(made_up()).all_reduces) {
    const Seconds time =
        collective_time(CollectiveOp::kAllReduce, row.bytes, {row.ranks, 1, row.ranks, 1}, model);
    EXPECT_NEAR(time / row.time, 1.0, 1e-9) << row.ranks;
  }
}

TEST(ClusterModels, MessageIsTheFittedOne) {
  const CommModel model = cluster_comm(made_up(), 8);
  for (const TimedMessage& row : bench_of(made_up()).messages) {
    const Seconds time =
        collective_time(CollectiveOp::kSendReceive, row.bytes, {2, 1, 2, 1}, model);
    EXPECT_NEAR(time / row.time, 1.0, 1e-9);
  }
}

TEST(ClusterModels, ProductRunsAtTheFittedRate) {
  const DeviceModel device = cluster_device(made_up(), {BytesPerSecond(1e15), Seconds()});
  workload::Operator product;
  product.kind = workload::OpKind::kGemm;
  product.dtype = describe::DType::kFp32;
  product.m = 256;
  product.n = 512;
  product.k = 1024;
  product.flops = Flops(2.0 * 256 * 512 * 1024);
  EXPECT_NEAR(operator_time(product, device).total() / (product.flops / made_up().product_rate),
              1.0, 1e-6);
}

TEST(ClusterModels, UpdateMovesTwentyNumbersAParameter) {
  const DeviceModel device = cluster_device(made_up(), {BytesPerSecond(1e9), Seconds()});
  constexpr double kParameters = 1e6;
  const Seconds time = stream_time({.bytes = Bytes(7.0 * 4.0 * kParameters),
                                    .elements = kParameters,
                                    .vector = VectorWork::kUpdate},
                                   device)
                           .total();
  EXPECT_NEAR(time / (Bytes(20.0 * 4.0 * kParameters) / BytesPerSecond(1e9)), 1.0, 1e-9);
}

}  // namespace
}  // namespace sextant::cost
