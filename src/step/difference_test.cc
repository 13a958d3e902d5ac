#include "step/difference.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sextant::step {
namespace {

using describe::Job;

describe::DifferenceSpreads spreads() {
  const describe::DataStore data;
  auto read = describe::difference_spreads(data);
  EXPECT_TRUE(read) << (read ? "" : to_text(read.error()));
  return *read;
}

Job a_job() {
  Job job;
  job.cluster.device.id = "h100-sxm";
  job.cluster.devices = 64;
  job.global_batch = 128;
  job.sequences.length = 4096;
  return job;
}

TEST(Difference, OfAJobAndItselfIsExactlyOne) {
  const Job job = a_job();
  const Difference same = difference({job, 2_s}, {job, 2_s}, spreads());
  EXPECT_EQ(same.speed, 1.0);
  EXPECT_EQ(same.low, 1.0);
  EXPECT_EQ(same.high, 1.0);
  EXPECT_EQ(same.verdict(), Verdict::kEven);
  EXPECT_TRUE(same.spread_class.empty());
}

// The same layout on the same device with faster links: nobody names the change, it is one.
TEST(Difference, OfMachinesWithOtherNumbersIsOfTheWidestClass) {
  const Job job = a_job();
  const Difference faster = difference({job, 1_s}, {job, 2_s}, spreads());
  EXPECT_DOUBLE_EQ(faster.speed, 2.0);
  EXPECT_EQ(faster.spread_class, "all");
  EXPECT_LT(faster.low, 2.0);
}

// One over what it was, ends too.
TEST(Difference, IsTurnedByASwap) {
  const Job one = a_job();
  Job other = one;
  other.layout.tp = 4;
  other.global_batch = 512;
  const auto all = spreads();
  for (const double seconds : {0.5, 1.9, 2.0, 40.0}) {
    const Difference there = difference({one, 2_s}, {other, seconds * 1_s}, all);
    const Difference back = difference({other, seconds * 1_s}, {one, 2_s}, all);
    EXPECT_NEAR(there.speed * back.speed, 1.0, 1e-12);
    EXPECT_NEAR(there.low * back.high, 1.0, 1e-12);
    EXPECT_NEAR(there.high * back.low, 1.0, 1e-12);
    EXPECT_EQ(there.spread_class, back.spread_class);
    EXPECT_EQ(there.verdict() == Verdict::kFaster, back.verdict() == Verdict::kSlower);
  }
}

// 4 s against 2 s, the same tokens: half the speed; the interval is far from 1.
TEST(Difference, SpeedIsOfTokens) {
  const Job one = a_job();
  Job other = one;
  other.layout.mbs = 2;
  const Difference half = difference({one, 4_s}, {other, 2_s}, spreads());
  EXPECT_DOUBLE_EQ(half.speed, 0.5);
  EXPECT_EQ(half.verdict(), Verdict::kSlower);
  other.global_batch = 64;  // and half the tokens
  EXPECT_DOUBLE_EQ(difference({one, 4_s}, {other, 2_s}, spreads()).speed, 1.0);
}

// Twice the devices at twice the speed do as much each: only the class's own width is left.
TEST(Difference, OfMoreDevicesIsAsWideAsWhatADeviceDoes) {
  const Job one = a_job();
  Job twice = one;
  twice.cluster.devices *= 2;
  twice.global_batch *= 2;
  const Difference scaled = difference({twice, 2_s}, {one, 2_s}, spreads());
  EXPECT_DOUBLE_EQ(scaled.speed, 2.0);
  describe::DifferenceWidth width = spreads().width(twice, one);
  EXPECT_NEAR(scaled.high / scaled.speed, width.spread(1.0), 1e-12);
}

TEST(Difference, TheVerdictIsOfTheInterval) {
  const describe::DifferenceWidth width{"mesh", 1.1, 0.0, 1.0, {}};
  EXPECT_EQ(difference_of(1.05, 1.0, width).verdict(), Verdict::kEven);
  EXPECT_EQ(difference_of(1.2, 1.0, width).verdict(), Verdict::kFaster);
  EXPECT_EQ(difference_of(0.8, 1.0, width).verdict(), Verdict::kSlower);
  // (1.1 − 1 / 1.1) / 2
  EXPECT_NEAR(difference_of(1.0, 1.0, width).half_width(), 0.0955, 1e-4);
}

TEST(Difference, SaysWhatWasNotMeasured) {
  const Job one = a_job();
  Job other = one;
  other.layout.cp = 64;
  const Difference far = difference({one, 2_s}, {other, 2_s}, spreads());
  EXPECT_NE(std::find(far.outside.begin(), far.outside.end(), "cp>32"), far.outside.end());
}

}  // namespace
}  // namespace sextant::step
