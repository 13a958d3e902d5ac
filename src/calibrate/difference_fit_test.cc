#include "calibrate/difference_fit.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sextant::calibrate {
namespace {

using describe::Change;
using describe::Job;

// Pairs whose jobs differ in their mesh, measured / predicted as said, at predicted ratio 1.
std::vector<DifferencePair> pairs_of(const char* source, const std::vector<double>& ratios,
                                     const Job& one, const Job& other) {
  std::vector<DifferencePair> pairs;
  for (const double ratio : ratios) {
    pairs.push_back({source, &one, &other, {Change::kMesh}, ratio, 1.0});
  }
  return pairs;
}

std::vector<double> spread_evenly(int count, double most) {
  std::vector<double> ratios;
  for (int i = 1; i <= count; ++i) {
    ratios.push_back(std::exp(std::log(most) * i / count));
  }
  return ratios;
}

struct DifferenceFit : ::testing::Test {
  Job one;
  Job other = [] {
    Job job;
    job.layout.tp = 2;
    return job;
  }();
  std::vector<DifferencePair> pairs;
  void add(const char* source, const std::vector<double>& ratios) {
    const auto more = pairs_of(source, ratios, one, other);
    pairs.insert(pairs.end(), more.begin(), more.end());
  }
  // Everything belongs to "all" as well, which some pair must speak for.
  void add_far_pairs() {
    for (int i = 0; i < 60; ++i) {
      pairs.push_back({i % 2 == 0 ? "a" : "b", &one, &other, {Change::kJob}, 2.0, 1.0});
    }
  }
};

const describe::DifferenceSpread* class_in(const describe::DifferenceFile& file,
                                           std::string_view name) {
  for (const auto& one : file.classes) {
    if (one.name == name) {
      return &one;
    }
  }
  return nullptr;
}

// Errors of 1 … 10 % in each of four sources: eight of ten are within 1.1^0.8 = 1.0792.
TEST_F(DifferenceFit, HoldsEightOfTen) {
  for (const char* source : {"a", "b", "c", "d"}) {
    add(source, spread_evenly(10, 1.1));
  }
  add_far_pairs();
  const auto file = fit_differences(pairs, "a test");
  ASSERT_TRUE(file) << to_text(file.error());
  const auto* mesh = class_in(*file, "mesh");
  ASSERT_NE(mesh, nullptr);
  EXPECT_DOUBLE_EQ(mesh->factor, 1.08);
  EXPECT_EQ(mesh->pairs, 40);
}

// A thousand precise pairs do not make the others' intervals narrow.
TEST_F(DifferenceFit, ASourceCountsOnceHoweverManyPairsItHas) {
  add("a", std::vector<double>(1000, 1.0));
  for (const char* source : {"b", "c", "d", "e"}) {
    add(source, spread_evenly(10, 1.1));
  }
  add_far_pairs();
  const auto file = fit_differences(pairs, "a test");
  ASSERT_TRUE(file) << to_text(file.error());
  // 1 of a, and 0.75 of the other four: 0.8 in the mean; 1.1^0.8 rounds to 1.08.
  EXPECT_GE(class_in(*file, "mesh")->factor, 1.07);
}

TEST_F(DifferenceFit, ThinClassesHaveTheOneAroundThem) {
  add("a", spread_evenly(10, 1.1));
  add("b", spread_evenly(10, 1.1));  // two sources: without either there would be one
  add_far_pairs();
  const auto file = fit_differences(pairs, "a test");
  ASSERT_TRUE(file) << to_text(file.error());
  EXPECT_EQ(class_in(*file, "mesh"), nullptr);
  const auto spreads = describe::DifferenceSpreads::of(*file);
  ASSERT_TRUE(spreads);
  EXPECT_EQ(spreads->width(one, other).name, "all");
}

TEST_F(DifferenceFit, ASourceIsNotInWhatIsSaidWithoutIt) {
  for (const char* source : {"a", "b", "c"}) {
    add(source, spread_evenly(10, 1.1));
  }
  add("wild", spread_evenly(10, 3.0));
  add_far_pairs();
  const auto file = fit_differences(pairs, "a test");
  ASSERT_TRUE(file) << to_text(file.error());
  const auto* mesh = class_in(*file, "mesh");
  ASSERT_NE(mesh, nullptr);
  EXPECT_GT(mesh->factor, 1.08);
  EXPECT_DOUBLE_EQ(mesh->factor_without("wild").value_or(0.0), 1.08);
}

TEST_F(DifferenceFit, AWiderClassIsNeverNarrower) {
  for (const char* source : {"a", "b", "c"}) {
    add(source, spread_evenly(10, 1.5));
    for (int i = 0; i < 10; ++i) {
      pairs.push_back({source, &one, &other, {Change::kMesh, Change::kMicroBatch}, 1.01, 1.0});
    }
  }
  add_far_pairs();
  const auto file = fit_differences(pairs, "a test");
  ASSERT_TRUE(file) << to_text(file.error());
  EXPECT_GE(class_in(*file, "several-changes")->factor, class_in(*file, "mesh")->factor);
}

TEST_F(DifferenceFit, NothingMeasuredTwiceIsNoPairOfADifference) {
  EXPECT_FALSE(fit_differences({}, "a test"));
  pairs = {{"a", &one, &one, {}, 1.2, 1.0}};
  EXPECT_FALSE(fit_differences(pairs, "a test"));
}

TEST_F(DifferenceFit, CoverageLeavesOutTheSource) {
  for (const char* source : {"a", "b", "c"}) {
    add(source, spread_evenly(20, 1.1));
  }
  add("wild", spread_evenly(20, 3.0));
  add_far_pairs();
  const auto file = fit_differences(pairs, "a test");
  ASSERT_TRUE(file) << to_text(file.error());
  const auto spreads = describe::DifferenceSpreads::of(*file);
  ASSERT_TRUE(spreads);
  const auto coverage = difference_coverage(pairs, *spreads);
  ASSERT_EQ(coverage.size(), 4U);
  EXPECT_EQ(coverage.back().source, "wild");
  EXPECT_LT(coverage.back().left_out, coverage.back().seen);
}

}  // namespace
}  // namespace sextant::calibrate
