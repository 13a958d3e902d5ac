#include "describe/difference_spread.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sextant::describe {
namespace {

Job plain_job() {
  Job job;
  job.cluster.device.id = "h100-sxm";
  job.cluster.devices = 8;
  job.global_batch = 64;
  job.sequences.length = 4096;
  return job;
}

DifferenceSpread class_spread(const char* name, double factor) {
  return {.name = name, .factor = factor, .pairs = 30, .source = "a test", .without = {}};
}

DifferenceFile a_file() {
  DifferenceFile file;
  file.classes = {class_spread("mesh", 1.1), class_spread("one-change", 1.2),
                  class_spread("several-changes", 1.3), class_spread("all", 1.4)};
  file.share_source = "a test";
  const Job job = plain_job();
  for (const JobFeature& feature : job_features(job)) {
    file.measured["here"].insert(feature.word);
  }
  return file;
}

DifferenceSpreads spreads_of(DifferenceFile file) {
  auto made = DifferenceSpreads::of(std::move(file));
  EXPECT_TRUE(made) << (made ? "" : to_text(made.error()));
  return *made;
}

std::vector<std::string> classes(std::vector<Change> changes) {
  return difference_classes(changes);
}

TEST(DifferenceClasses, StandInOneAnother) {
  EXPECT_TRUE(classes({}).empty());
  EXPECT_EQ(classes({Change::kMesh}),
            (std::vector<std::string>{"mesh", "one-change", "several-changes", "all"}));
  EXPECT_EQ(classes({Change::kMesh, Change::kRecompute}),
            (std::vector<std::string>{"several-changes", "all"}));
  EXPECT_EQ(classes({Change::kBatch}), (std::vector<std::string>{"batch", "scale", "all"}));
  EXPECT_EQ(classes({Change::kDevices, Change::kBatch}),
            (std::vector<std::string>{"scale", "all"}));
  EXPECT_EQ(classes({Change::kMesh, Change::kDevices}), std::vector<std::string>{"all"});
  EXPECT_EQ(classes({Change::kJob}), std::vector<std::string>{"all"});
}

TEST(JobChanges, NoneOfAJobAndItself) {
  EXPECT_TRUE(changes_between(plain_job(), plain_job()).empty());
}

TEST(JobChanges, AreTheSameBothWaysRound) {
  const Job one = plain_job();
  Job other = one;
  other.layout.tp = 2;
  other.layout.mbs = 4;
  other.layout.precision = Precision::kFp8;
  other.cluster.devices = 16;
  const std::vector<Change> expected{Change::kMesh, Change::kMicroBatch, Change::kPrecision,
                                     Change::kDevices, Change::kBatch};
  EXPECT_EQ(changes_between(one, other), expected);
  EXPECT_EQ(changes_between(other, one), expected);
}

// Twice the devices with twice the batch: what a device does stays.
TEST(JobChanges, ABatchThatGrowsWithTheDevicesIsTheSameForEach) {
  const Job one = plain_job();
  Job other = one;
  other.cluster.devices *= 2;
  other.global_batch *= 2;
  EXPECT_EQ(changes_between(one, other), std::vector<Change>{Change::kDevices});
}

TEST(JobFeatures, OfALargerAxisHoldThoseOfASmaller) {
  Job small = plain_job();
  small.layout.cp = 5;
  Job large = small;
  large.layout.cp = 16;
  const auto of_large = job_features(large);
  for (const JobFeature& feature : job_features(small)) {
    EXPECT_NE(std::find(of_large.begin(), of_large.end(), feature), of_large.end()) << feature.word;
  }
  EXPECT_GT(of_large.size(), job_features(small).size());
}

TEST(DifferenceWidth, OfAJobAgainstItselfIsNone) {
  const DifferenceWidth width = spreads_of(a_file()).width(plain_job(), plain_job());
  EXPECT_TRUE(width.name.empty());
  EXPECT_EQ(width.spread(1.0), 1.0);
}

TEST(DifferenceWidth, IsOfTheNarrowestClassThatHasPairsEnough) {
  const DifferenceSpreads spreads = spreads_of(a_file());
  Job other = plain_job();
  other.layout.sp = true;
  EXPECT_EQ(spreads.width(plain_job(), other).name, "mesh");
  other = plain_job();
  other.layout.activation_offload = true;  // no class of its own in the file
  EXPECT_EQ(spreads.width(plain_job(), other).name, "one-change");
  other.global_batch *= 2;
  EXPECT_EQ(spreads.width(plain_job(), other).name, "all");
}

TEST(DifferenceWidth, ASourceLeftOutFallsBackWhereItsPairsWereTheClass) {
  DifferenceFile file = a_file();
  file.classes[0].without = {{"here", std::nullopt}, {"there", 1.05}};
  const DifferenceSpreads spreads = spreads_of(std::move(file));
  Job other = plain_job();
  other.layout.sp = true;
  EXPECT_EQ(spreads.width(plain_job(), other, "here").name, "one-change");
  EXPECT_DOUBLE_EQ(spreads.width(plain_job(), other, "there").factor, 1.05);
  EXPECT_DOUBLE_EQ(spreads.width(plain_job(), other, "elsewhere").factor, 1.1);
}

TEST(DifferenceWidth, IsLargerOutsideWhatWasMeasured) {
  DifferenceFile file = a_file();
  file.outside[FeatureKind::kSize] = {.power = 1.5, .pairs = 10};
  const DifferenceSpreads spreads = spreads_of(std::move(file));
  Job other = plain_job();
  other.layout.tp = 4;
  const DifferenceWidth width = spreads.width(plain_job(), other);
  EXPECT_EQ(width.outside, (std::vector<std::string>{"tp>1", "tp>2"}));
  EXPECT_NEAR(width.spread(1.0), std::pow(1.1, 1.5), 1e-12);
  // A source left out takes what it alone has measured with it.
  EXPECT_GT(spreads.width(plain_job(), other, "here").outside.size(), 2U);
}

// Of the same ratio, and of its inverse, and more for more: as the sign of a change is surer the
// larger it is, the share is less than one.
TEST(DifferenceWidth, GrowsWithTheChangeAndLessThanIt) {
  const DifferenceWidth width{"all", 1.1, 0.3, 1.2, {}};
  double before = 0.0;
  for (double ratio = 1.0; ratio < 50.0; ratio *= 1.3) {
    EXPECT_NEAR(width.spread(ratio), width.spread(1.0 / ratio), 1e-12);
    const double low = ratio / width.spread(ratio);
    EXPECT_GT(low, before);
    before = low;
  }
}

// Laws of the file as it is: more differences, and more that was not measured, are never narrower.
TEST(DifferenceSpreadsOfTheProgram, AreNeverNarrowerForMoreChanges) {
  const DataStore data;
  const auto spreads = difference_spreads(data);
  ASSERT_TRUE(spreads) << to_text(spreads.error());
  const Job one = plain_job();
  const auto with = [&](unsigned bits) {
    Job job = one;
    job.layout.sp = (bits & 1U) != 0;
    job.layout.activation_offload = (bits & 2U) != 0;
    job.layout.reshard_after_forward = (bits & 4U) == 0;
    job.layout.launch = (bits & 8U) != 0 ? Launch::kCompiled : Launch::kEager;
    job.layout.precision = (bits & 16U) != 0 ? Precision::kFp8 : Precision::kBf16;
    job.global_batch = (bits & 32U) != 0 ? 128 : 64;
    job.sequences.length = (bits & 64U) != 0 ? 8192 : 4096;
    return job;
  };
  for (unsigned bits = 0; bits < 128U; ++bits) {
    const double narrow = spreads->width(one, with(bits)).spread(1.2);
    EXPECT_EQ(narrow == 1.0, bits == 0);
    for (unsigned more = 1; more < 128U; more *= 2) {
      EXPECT_GE(spreads->width(one, with(bits | more)).spread(1.2), narrow) << bits << " " << more;
    }
  }
}

TEST(DifferenceSpreadFile, IsReadAsItWasWritten) {
  DifferenceFile file = a_file();
  file.share = 0.05;
  file.classes[0].without = {{"here", std::nullopt}, {"there", 1.05}};
  file.outside[FeatureKind::kFormat] = {.power = 1.25, .pairs = 10};
  const std::string text = difference_spread_text(spreads_of(std::move(file)).file());
  const auto read = parse_difference_spreads(text, "test.toml");
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(difference_spread_text(read->file()), text);
}

TEST(DifferenceSpreadFile, AWiderClassThatIsNarrowerIsAnError) {
  DifferenceFile file = a_file();
  file.classes[1].factor = 1.05;
  const auto made = DifferenceSpreads::of(std::move(file));
  ASSERT_FALSE(made);
  EXPECT_NE(to_text(made.error()).find("narrower"), std::string::npos);
}

TEST(DifferenceSpreadFile, WhatItMustNotSay) {
  const std::string good = difference_spread_text(a_file());
  ASSERT_TRUE(parse_difference_spreads(good, "x"));
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  for (const std::string& text :
       {with("[all]", "[most]"), with("1.4 ratio", "0.9 ratio"), with("1.4 ratio", "2000 ratio"),
        with("0 ratio", "0.9 ratio"), with("pairs = 30", "pairs = -1"), std::string()}) {
    EXPECT_FALSE(parse_difference_spreads(text, "x")) << text;
  }
}

}  // namespace
}  // namespace sextant::describe
