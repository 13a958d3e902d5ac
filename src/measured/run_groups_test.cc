#include "measured/run_groups.h"

#include <utility>

#include <gtest/gtest.h>

namespace sextant::measured {
namespace {

struct Shape {
  std::int64_t devices = 8;
  std::int64_t batch = 16;
  std::int64_t tp = 1;
  std::string framework = "Megatron-LM";
};

describe::Job job_of(const Shape& shape) {
  describe::Job job;
  job.model.name = "m";
  job.cluster.devices = shape.devices;
  job.cluster.device.id = "h100-sxm";
  job.cluster.fabric.id = "ib-ndr";
  job.cluster.system.domain_size.value = 8;
  job.cluster.system.devices_per_node.value = 8;
  job.layout.tp = shape.tp;
  job.sequences.length = 2048;
  job.global_batch = shape.batch;
  return job;
}

struct Tables {
  std::vector<Row> rows;
  std::map<std::string, double> predicted;

  void add(const Shape& shape, double measured, double prediction) {
    Row row;
    row.id = std::to_string(rows.size());
    row.source = "runs";
    row.quantity = "step_time_s";
    row.measured = measured;
    row.subject = RunSubject{.job = std::make_shared<const describe::Job>(job_of(shape)),
                             .beyond_layout = {},
                             .framework = shape.framework,
                             .flags = {},
                             .recompute = {},
                             .hardware = {},
                             .date = {}};
    predicted[row.id] = prediction;
    rows.push_back(std::move(row));
  }
  [[nodiscard]] std::vector<ScalingSeries> series() const {
    return scaling_series(rows, validate(rows, [this](const Row& row) -> Answer {
                            return Prediction{predicted.at(row.id), std::nullopt, {}};
                          }));
  }
};

TEST(RunSystem, IsTheDeviceAndWhatItsMessagesCross) {
  EXPECT_EQ(run_system(job_of({.devices = 8}).cluster), "h100-sxm, one domain");
  EXPECT_EQ(run_system(job_of({.devices = 16}).cluster), "h100-sxm, ib-ndr");
}

TEST(RunLayoutClass, IsTheLastAxisThatSplits) {
  describe::Job job = job_of({.devices = 64});
  EXPECT_EQ(run_layout_class(job), "dp");
  job.layout.zero = describe::Zero::kParameters;
  EXPECT_EQ(run_layout_class(job), "sharded dp");
  job.layout.tp = 2;
  EXPECT_EQ(run_layout_class(job), "tp");
  job.layout.pp = 2;
  EXPECT_EQ(run_layout_class(job), "tp+pp");
  job.layout.tp = 1;
  EXPECT_EQ(run_layout_class(job), "pp");
  job.layout.cp = 2;
  EXPECT_EQ(run_layout_class(job), "cp");
  job.layout.ep = 2;
  EXPECT_EQ(run_layout_class(job), "ep");
  EXPECT_EQ(run_layout_class(job_of({.devices = 1})), "one device");
}

TEST(RunConfiguration, SameJobSameName) {
  EXPECT_EQ(run_configuration(job_of({})), run_configuration(job_of({})));
  EXPECT_NE(run_configuration(job_of({})), run_configuration(job_of({.tp = 2})));
  EXPECT_NE(run_configuration(job_of({})), run_configuration(job_of({.batch = 32})));
}

// Weak: measured 1, 1.1, 1.2, 1.3 s; predicted 2, 2, 2.2, 2.4: growth 10, 20, 30 against 0, 10, 20.
TEST(Scaling, WeakGrowthIsOfTheStep) {
  Tables tables;
  tables.add({.devices = 8, .batch = 16}, 1.0, 2.0);
  tables.add({.devices = 16, .batch = 32}, 1.1, 2.0);
  tables.add({.devices = 32, .batch = 64}, 1.2, 2.2);
  tables.add({.devices = 64, .batch = 128}, 1.3, 2.4);
  const auto series = tables.series();
  ASSERT_EQ(series.size(), 1U);
  EXPECT_TRUE(series[0].weak);
  EXPECT_NEAR(series[0].measured_growth(3), 0.3, 1e-12);
  EXPECT_NEAR(series[0].predicted_growth(3), 0.2, 1e-12);
  EXPECT_NEAR(series[0].difference(), 0.1, 1e-12);
}

// Strong: steps 8, 4.4, 2.4, 1.4 s on 1, 2, 4, 8 times the devices cost 8, 8.8, 9.6, 11.2: growth
// 10, 20, 40; predicted perfectly scaled.
TEST(Scaling, StrongGrowthIsOfDeviceTime) {
  Tables tables;
  tables.add({.devices = 8, .batch = 64}, 8.0, 8.0);
  tables.add({.devices = 16, .batch = 64}, 4.4, 4.0);
  tables.add({.devices = 32, .batch = 64}, 2.4, 2.0);
  tables.add({.devices = 64, .batch = 64}, 1.4, 1.0);
  const auto series = tables.series();
  ASSERT_EQ(series.size(), 1U);
  EXPECT_FALSE(series[0].weak);
  EXPECT_NEAR(series[0].difference(), 0.7 / 3.0, 1e-12);
}

TEST(Scaling, FourPointsOfOneLayoutAndVersion) {
  Tables tables;
  tables.add({.devices = 8, .batch = 16}, 1.0, 1.0);
  tables.add({.devices = 16, .batch = 32}, 1.0, 1.0);
  tables.add({.devices = 32, .batch = 64}, 1.0, 1.0);
  EXPECT_TRUE(tables.series().empty());
  tables.add({.devices = 64, .batch = 128, .tp = 2}, 1.0, 1.0);
  EXPECT_TRUE(tables.series().empty());
  tables.add({.devices = 64, .batch = 128, .framework = "another"}, 1.0, 1.0);
  EXPECT_TRUE(tables.series().empty());
  tables.add({.devices = 64, .batch = 128}, 1.0, 1.0);
  EXPECT_EQ(tables.series().size(), 1U);
}

// Measured twice at one scale: the mean of 1.2 and 1.4.
TEST(Scaling, RepeatsAreOnePoint) {
  Tables tables;
  tables.add({.devices = 8, .batch = 16}, 1.0, 1.0);
  tables.add({.devices = 16, .batch = 32}, 1.2, 1.0);
  tables.add({.devices = 16, .batch = 32}, 1.4, 1.0);
  tables.add({.devices = 32, .batch = 64}, 1.0, 1.0);
  tables.add({.devices = 64, .batch = 128}, 1.0, 1.0);
  const auto series = tables.series();
  ASSERT_EQ(series.size(), 1U);
  EXPECT_EQ(series[0].points.size(), 4U);
  EXPECT_NEAR(series[0].measured_growth(1), 0.3, 1e-12);
  EXPECT_NEAR(series[0].difference(), 0.1, 1e-12);
}

// Groups of layouts, and where the one measured fastest stands among those predicted.
std::map<std::string, double> top3_of(
    const std::vector<std::vector<std::pair<double, double>>>& all, Trust trust = Trust::kA) {
  Tables tables;
  for (std::size_t group = 0; group < all.size(); ++group) {
    for (const auto& [measured, predicted] : all[group]) {
      tables.add({}, measured, predicted);
      tables.rows.back().layout_group = std::to_string(group);
      tables.rows.back().trust = trust;
    }
  }
  return best_in_predicted_top3(tables.rows,
                                validate(tables.rows, [&tables](const Row& row) -> Answer {
                                  return Prediction{tables.predicted.at(row.id), std::nullopt, {}};
                                }));
}

TEST(Top3, TheMeasuredBestIsThirdOrFourth) {
  EXPECT_EQ(top3_of({{{1.0, 3.0}, {2.0, 1.0}, {3.0, 2.0}, {4.0, 4.0}}}).at("runs"), 1.0);
  EXPECT_EQ(top3_of({{{1.0, 4.0}, {2.0, 1.0}, {3.0, 2.0}, {4.0, 3.0}}}).at("runs"), 0.0);
  // One of each: half.
  EXPECT_EQ(top3_of({{{1.0, 3.0}, {2.0, 1.0}, {3.0, 2.0}, {4.0, 4.0}},
                     {{1.0, 4.0}, {2.0, 1.0}, {3.0, 2.0}, {4.0, 3.0}}})
                .at("runs"),
            0.5);
}

// The best is predicted as long as the third; of two measured alike the second is predicted best.
TEST(Top3, TiesCountForTheBetterPlace) {
  EXPECT_EQ(top3_of({{{1.0, 3.0}, {2.0, 1.0}, {3.0, 2.0}, {4.0, 3.0}}}).at("runs"), 1.0);
  EXPECT_EQ(top3_of({{{1.0, 9.0}, {1.0, 1.0}, {3.0, 2.0}, {4.0, 3.0}}}).at("runs"), 1.0);
}

TEST(Top3, GroupsHaveFourScoredLayouts) {
  EXPECT_TRUE(top3_of({{{1.0, 3.0}, {2.0, 1.0}, {3.0, 2.0}}}).empty());
  EXPECT_TRUE(top3_of({{{1.0, 3.0}, {2.0, 1.0}, {3.0, 2.0}, {4.0, 4.0}}}, Trust::kC).empty());
}

}  // namespace
}  // namespace sextant::measured
