// Steps that a model with other constants would take: the fit finds them again.
#include "calibrate/step_fit.h"

#include <cmath>

#include <gtest/gtest.h>

#include "calibrate/run_calibration.h"
#include "calibrate/run_halves.h"
#include "calibrate/spread_fit.h"
#include "calibrate/testing.h"
#include "describe/cluster/load_cluster.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/legality.h"
#include "describe/model/load_model.h"
#include "machine/machine.h"
#include "step/estimate.h"

namespace sextant::calibrate {
namespace {

describe::Job llama_job(const std::string& cluster, const std::string& layout, std::int64_t batch) {
  describe::Job job;
  auto model = describe::load_model("llama-3.1-8b", built_in_data());
  auto loaded = describe::load_cluster(cluster, built_in_data());
  auto reading = describe::parse_layout(layout, describe::Framework::kMegatronCore);
  EXPECT_TRUE(model && loaded && reading) << layout;
  job.model = std::move(*model);
  job.cluster = std::move(*loaded);
  job.framework = describe::Framework::kMegatronCore;
  job.layout = std::move(reading->layout);
  job.stated.insert(reading->given.begin(), reading->given.end());
  job.sequences.length = 4096;
  job.global_batch = batch;
  EXPECT_TRUE(describe::refusals(job).empty()) << layout;
  return job;
}

RunSample sample_of(const std::string& cluster, const std::string& layout, std::int64_t batch) {
  const describe::Job job = llama_job(cluster, layout, batch);
  auto machine = machine::step_machine(job, built_in_data());
  EXPECT_TRUE(machine) << (machine ? "" : to_text(machine.error()));
  return {.source = "one",
          .origin = "one",
          .system = cluster,
          .configuration = cluster + layout + std::to_string(batch),
          .job = std::make_shared<const describe::Job>(job),
          .model = std::make_shared<const step::StepModel>(std::move(machine->model)),
          .measured = 1_s};
}

// Jobs that the constants tell apart, "measured" by `facts`.
std::vector<RunSample> measured_by(const describe::StepFacts& facts) {
  std::vector<RunSample> samples;
  for (const std::int64_t batch : {16, 32, 64, 128}) {
    for (const char* layout : {"tp=2,sp=1,overlap=tp+grad_reduce", "tp=4,sp=1,overlap=tp", "tp=8",
                               "zero=1,overlap=grad_reduce+param_gather"}) {
      samples.push_back(sample_of("2xdgx-h100", layout, batch));
      samples.push_back(sample_of("1xdgx-h100", layout, batch));
    }
  }
  const std::vector<Seconds> steps = predicted_steps(samples, facts);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].measured = steps[i];
  }
  return samples;
}

describe::StepFacts facts_now() {
  return *describe::step_facts(built_in_data());
}

TEST(StepPlace, BackAndForth) {
  describe::StepFacts facts = facts_now();
  StepPlace place = middle_place();
  put_place(place, facts);
  EXPECT_EQ(place_of(facts), place);
  EXPECT_EQ(constant_text(0, 13), "0.65 ratio");
  EXPECT_EQ(constant_text(5, 20), "20 ms");
}

// What the fit takes for granted: the loop and uneven devices are added to what else there is.
TEST(StepFit, TheLoopAndUnevenDevicesAreSummands) {
  const RunSample sample = sample_of("2xdgx-h100", "tp=2,pp=2", 32);
  step::StepModel model = *sample.model;
  const step::StepEstimate before = step::estimate_step(*sample.job, model);
  model.facts.loop.value = 3_ms;
  model.facts.uneven.value = 0.5;
  const step::StepEstimate after = step::estimate_step(*sample.job, model);
  EXPECT_NEAR((before.step - before.beside) / (after.step - after.beside), 1.0, 1e-12);
  EXPECT_NEAR(after.beside / ((after.compute - after.slowed) * 0.5 + 3_ms), 1.0, 1e-12);
}

TEST(StepFit, ConstantsAreFoundAgain) {
  describe::StepFacts truth = facts_now();
  StepPlace place = middle_place();
  put_place(place, truth);
  const std::vector<RunSample> samples = measured_by(truth);
  StepPlace start = place;
  start[0] -= 4;  // hidden_tensor
  start[5] += 9;  // loop
  start[6] -= 5;  // uneven
  const StepFit fit = fit_step(samples, start);
  EXPECT_GT(fit.before, 0.005);
  EXPECT_LT(fit.after, fit.before / 5.0);
  EXPECT_GT(fit.tried, 10);
  EXPECT_EQ(fit.samples, static_cast<std::int64_t>(samples.size()));
}

TEST(StepFit, StaysWhereNothingIsBetter) {
  describe::StepFacts truth = facts_now();
  const StepPlace place = middle_place();
  put_place(place, truth);
  const StepFit fit = fit_step(measured_by(truth), place);
  EXPECT_EQ(fit.place, place);
  EXPECT_NEAR(fit.after, 0.0, 1e-9);
}

// No row has experts, so nothing tells how much of their messages is hidden.
TEST(StepFit, AConstantThatNoRowDependsOnStays) {
  describe::StepFacts truth = facts_now();
  put_place(middle_place(), truth);
  StepPlace start = middle_place();
  start[1] = 3;
  const StepFit fit = fit_step(measured_by(truth), start);
  EXPECT_EQ(fit.rows[1], 0);
  EXPECT_EQ(fit.place[1], 3);
}

TEST(StepFit, ValuesStayInsideTheirBounds) {
  std::vector<RunSample> samples = measured_by(facts_now());
  for (RunSample& sample : samples) {
    sample.measured = sample.measured * 3.0;
  }
  const StepFit fit = fit_step(samples, middle_place());
  for (std::size_t i = 0; i < kStepConstants; ++i) {
    EXPECT_GE(fit.place[i], step_constants()[i].least);
    EXPECT_LE(fit.place[i], step_constants()[i].most);
  }
}

// One source off by 10 % in three rows, another by 400 % in one, which counts as 100: 55 %.
TEST(MacroError, SourcesCountAlikeAndRowsAtMostOne) {
  std::vector<RunSample> samples(4);
  std::vector<Seconds> predicted(4, 1.1_s);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].measured = 1_s;
    samples[i].source = i == 3 ? "two" : "one";
  }
  predicted[3] = 5_s;
  EXPECT_NEAR(macro_error(samples, predicted), 0.55, 1e-9);
}

TEST(StepHalves, OneSystemHasNoHalves) {
  const auto none = run_halves({});
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
}

TEST(StepHalves, TheOtherHalfIsPredictedByConstantsOfThisOne) {
  describe::StepFacts truth = facts_now();
  StepPlace place = middle_place();
  place[6] += 6;
  put_place(place, truth);
  const auto halves = run_halves(measured_by(truth));
  ASSERT_TRUE(halves) << to_text(halves.error());
  ASSERT_EQ(halves->size(), 2U);
  for (const RunHalf& half : *halves) {
    EXPECT_EQ(half.systems, 1);
    EXPECT_LT(half.fitted, 0.02);
    EXPECT_LT(half.left_out, 0.03);
    EXPECT_EQ(half.constants.size(), kStepConstants);
  }
}

// Ratios 0.81, 0.82 … 1.20 of forty equal jobs: their deciles are 0.849 and 1.161.
TEST(SpreadFit, DecilesOfOneSource) {
  std::vector<RunSample> samples(40, sample_of("1xdgx-h100", "tp=2", 16));
  const std::vector<Seconds> predicted(40, 1_s);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].measured = (0.81 + 0.01 * static_cast<double>(i)) * 1_s;
  }
  const auto spreads = fit_spreads(samples, predicted, "a test");
  ASSERT_TRUE(spreads) << to_text(spreads.error());
  const describe::StepSpread& all = spreads->classes().at("all");
  EXPECT_NEAR(all.low, 0.845, 0.011);
  EXPECT_NEAR(all.high, 1.165, 0.011);
  EXPECT_EQ(all.rows, 40);
  EXPECT_TRUE(spreads->classes().contains("megatron-dense-16-bit"));
  EXPECT_FALSE(spreads->classes().contains("jax"));
}

TEST(SpreadFit, ThePredictionIsAlwaysInside) {
  std::vector<RunSample> samples(20, sample_of("1xdgx-h100", "tp=2", 16));
  const std::vector<Seconds> predicted(20, 1_s);
  for (const double ratio : {0.2, 0.7, 1.4, 6.0}) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      samples[i].measured = (ratio + 0.01 * static_cast<double>(i)) * 1_s;
    }
    const auto spreads = fit_spreads(samples, predicted, "a test");
    ASSERT_TRUE(spreads);
    for (const auto& [name, one] : spreads->classes()) {
      EXPECT_LE(one.low, 1.0) << name;
      EXPECT_GE(one.high, 1.0) << name;
    }
  }
}

TEST(SpreadFit, TooFewRowsAreAnError) {
  const std::vector<RunSample> samples(11, sample_of("1xdgx-h100", "tp=2", 16));
  EXPECT_FALSE(fit_spreads(samples, std::vector<Seconds>(11, 1_s), "a test"));
}

TEST(WithValues, OnlyNamedSectionsChange) {
  const std::string file =
      "# head\n\n[a]\nvalue = \"1 ratio\"\nkind = \"assumed\"\nsource = \"x\"\n[b]\nvalue = \"2 "
      "ms\"\nkind = \"assumed\"\nsource = \"y\"\n";
  EXPECT_EQ(with_values(file, {{"a", "3 ratio", "z"}}),
            "# head\n\n[a]\nvalue = \"3 ratio\"\nkind = \"fitted\"\nsource = \"z\"\n[b]\nvalue = "
            "\"2 ms\"\nkind = \"assumed\"\nsource = \"y\"\n");
  EXPECT_EQ(with_values(file, {}), file);
}

}  // namespace
}  // namespace sextant::calibrate
