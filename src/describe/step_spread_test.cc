#include "describe/step_spread.h"

#include <gtest/gtest.h>

namespace sextant::describe {
namespace {

Job job_of(Framework framework) {
  Job job;
  job.framework = framework;
  job.cluster.devices = 8;
  job.cluster.system.domain_size.value = 8;
  job.cluster.system.devices_per_node.value = 8;
  return job;
}

StepSpread spread(const char* name, double low, double high) {
  return {.name = name, .low = low, .high = high, .rows = 20, .source = "a test"};
}

StepSpreads two_classes() {
  return *StepSpreads::of_classes({spread("all", 0.8, 1.3), spread("sharded", 0.9, 1.1)});
}

TEST(SpreadClasses, NarrowestFirstAndAllAtTheEnd) {
  const Job job = job_of(Framework::kFsdp1);
  EXPECT_EQ(spread_classes(job), (std::vector<std::string>{"sharded-fsdp1", "sharded", "all"}));
}

TEST(SpreadClasses, FineTuningIsAClassOfItsOwn) {
  Job job = job_of(Framework::kMegatronCore);
  job.workload = Workload::kLora;
  EXPECT_EQ(spread_classes(job), (std::vector<std::string>{"fine-tuning", "all"}));
}

TEST(SpreadClasses, OneDomainOrMore) {
  Job job = job_of(Framework::kMegatronDeepspeed);
  EXPECT_EQ(spread_classes(job).front(), "megatron-deepspeed-one-domain");
  job.cluster.devices = 16;
  EXPECT_EQ(spread_classes(job).front(), "megatron-deepspeed-domains");
}

TEST(SpreadClasses, DenseModelsByPrecision) {
  Job job = job_of(Framework::kMegatronCore);
  EXPECT_EQ(spread_classes(job), (std::vector<std::string>{"megatron-dense-16-bit",
                                                           "megatron-dense", "megatron", "all"}));
  job.layout.precision = Precision::kMxfp8;
  EXPECT_EQ(spread_classes(job).front(), "megatron-dense-8-bit");
  job.model.blocks.push_back({.mixer = {}, .ffn = MoeFfn{}});
  EXPECT_EQ(spread_classes(job).front(), "megatron-experts");
}

TEST(SpreadClasses, EveryFrameworkHasOneAndEndsInAll) {
  for (const auto& [framework, word] : kFrameworkWords) {
    const auto classes = spread_classes(job_of(framework));
    EXPECT_GE(classes.size(), 2U) << word;
    EXPECT_EQ(classes.back(), "all") << word;
  }
}

TEST(StepSpreads, AClassThatIsMissingHasTheOneAroundIt) {
  const StepSpreads spreads = two_classes();
  EXPECT_EQ(spreads.of(job_of(Framework::kTorchtitan)).name, "sharded");
  EXPECT_EQ(spreads.of(job_of(Framework::kMaxtext)).name, "all");
}

TEST(StepSpreads, WithoutAllIsAnError) {
  EXPECT_FALSE(StepSpreads::of_classes({spread("jax", 0.9, 1.1)}));
  EXPECT_FALSE(parse_step_spreads("", "nothing.toml"));
}

TEST(StepSpreads, WrittenAndReadAgain) {
  const StepSpreads spreads = two_classes();
  const auto read = parse_step_spreads(step_spread_text(spreads), "written");
  ASSERT_TRUE(read) << to_text(read.error());
  ASSERT_EQ(read->classes().size(), 2U);
  const StepSpread& one = read->classes().at("sharded");
  EXPECT_EQ(one.low, 0.9);
  EXPECT_EQ(one.high, 1.1);
  EXPECT_EQ(one.rows, 20);
  EXPECT_EQ(one.source, "a test");
}

TEST(StepSpreads, AnIntervalWithoutThePredictionIsAnError) {
  const auto text = [](const char* low, const char* high) {
    return std::string("[all]\nrows = 9\nlow = { value = \"") + low +
           " ratio\", kind = \"fitted\", source = \"s\" }\nhigh = { value = \"" + high +
           " ratio\", kind = \"fitted\", source = \"s\" }\n";
  };
  EXPECT_TRUE(parse_step_spreads(text("1", "1"), "f"));
  EXPECT_FALSE(parse_step_spreads(text("1.1", "1.2"), "f"));
  EXPECT_FALSE(parse_step_spreads(text("0.8", "0.9"), "f"));
  EXPECT_FALSE(parse_step_spreads(text("0", "1.2"), "f"));
}

// Whatever the fit gives: the point is inside.
TEST(StepSpreads, BuiltInIntervalsHoldThePrediction) {
  const auto spreads = step_spreads(DataStore());
  ASSERT_TRUE(spreads) << to_text(spreads.error());
  for (const auto& [name, one] : spreads->classes()) {
    EXPECT_GT(one.low, 0.0) << name;
    EXPECT_LE(one.low, 1.0) << name;
    EXPECT_GE(one.high, 1.0) << name;
    EXPECT_FALSE(one.source.empty()) << name;
  }
}

}  // namespace
}  // namespace sextant::describe
