#include "cost/calibrate/comm_fit.h"

#include <cmath>

#include <gtest/gtest.h>

#include "describe/comm_facts.h"

namespace sextant::cost {
namespace {

using describe::CollectiveOp;
using describe::NetworkKey;

std::vector<double> values_of(std::span<const describe::Sourced<double>> facts) {
  std::vector<double> values;
  for (const describe::Sourced<double>& fact : facts) {
    values.push_back(fact.value);
  }
  return values;
}

class CommFitTest : public testing::Test {
 protected:
  CommFitTest()
      : link_(*describe::load_link_facts("nvlink4", describe::DataStore())),
        network_(*describe::load_network_facts("ib", describe::DataStore())),
        model_(comm_model(link_, std::nullopt, network_, 50_GBps)) {}

  // Timings that a cluster with these constants would give.
  [[nodiscard]] std::vector<TimedCollective> timings(const GroupShape& group,
                                                     const CommModel& truth) const {
    std::vector<TimedCollective> calls;
    for (const CollectiveOp op : {CollectiveOp::kAllReduce, CollectiveOp::kAllGather}) {
      for (int power = 10; power <= 34; power += 2) {
        const double bytes = std::ldexp(1.0, power);
        TimedCollective call;
        call.system = "made up";
        call.run = op == CollectiveOp::kAllReduce ? "all_reduce" : "all_gather";
        call.op = op;
        call.bytes = Bytes(bytes);
        call.group = group;
        call.model = model_;
        call.measured = collective_time(op, call.bytes, group, truth);
        calls.push_back(call);
      }
    }
    return calls;
  }

  describe::LinkFacts link_;
  describe::NetworkFacts network_;
  CommModel model_;
};

TEST_F(CommFitTest, FindsTheConstantsOfASlowerNetwork) {
  CommModel truth = model_;
  const auto put = [&](NetworkKey key, double factor) {
    truth.network[static_cast<std::size_t>(key)] *= factor;
  };
  put(NetworkKey::kHop, 2.5);
  put(NetworkKey::kLlHop, 3.0);
  put(NetworkKey::kRingShare, 0.7);
  put(NetworkKey::kTreeShare, 0.6);
  const std::vector<TimedCollective> calls = timings({32, 4, 8, 1}, truth);
  const CommFit fit = fit_network(calls, values_of(network_.values));
  EXPECT_GT(fit.before, 0.2);
  EXPECT_LT(fit.after, 0.04);
  const auto at = static_cast<std::size_t>(NetworkKey::kRingShare);
  EXPECT_NEAR(fit.values[at] / truth.network[at], 1.0, 0.05);
}

TEST_F(CommFitTest, ConstantsThatNothingSpeaksOfStay) {
  const std::vector<double> start = values_of(network_.values);
  const CommFit fit = fit_network(timings({32, 4, 8, 1}, model_), start);
  for (const NetworkKey key :
       {NetworkKey::kExchangeShare, NetworkKey::kMessageShare, NetworkKey::kLoneShare,
        NetworkKey::kMostRails, NetworkKey::kReducing}) {
    const auto at = static_cast<std::size_t>(key);
    EXPECT_EQ(fit.values[at], start[at]) << at;
    EXPECT_EQ(fit.timings[at], 0) << at;
  }
  EXPECT_LE(fit.after, fit.before + 1e-9);
}

TEST_F(CommFitTest, LinksScaleWithTheDevice) {
  // A device with half the rate, whose timings are those of the file at half its rates.
  const CommModel half = comm_model(link_, link_.rate.value * 0.5, network_, 50_GBps);
  std::vector<TimedCollective> calls = timings({8, 1, 8, 1}, half);
  for (TimedCollective& call : calls) {
    call.rate_scale = 0.5;
  }
  const CommFit fit = fit_links(calls, values_of(link_.values));
  EXPECT_LT(fit.before, 1e-9) << "values are the file's, not the device's";
  EXPECT_LT(fit.after, 1e-3);
}

}  // namespace
}  // namespace sextant::cost
