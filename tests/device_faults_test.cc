// Each fault of the device, made (made_training.h), is found first, and none where it is mended.
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"
#include "describe/data_store.h"
#include "diagnose/bottleneck.h"
#include "diagnose/device_rules.h"
#include "diagnose/rule_book.h"
#include "made_training.h"
#include "profile/testing.h"

namespace sextant::tests {
namespace {

using diagnose::Finding;
using diagnose::Findings;
using diagnose::Status;

struct Diagnosed {
  metrics::Summary summary;
  diagnose::Scene scene;
  Findings findings;
};

Diagnosed device_diagnosis(timeline::Recording recording) {
  Diagnosed answer;
  answer.summary = metrics::summarize(recording);
  const describe::DataStore data;
  const auto device = describe::load_device("h200-sxm", data);
  EXPECT_TRUE(device);
  answer.scene = diagnose::scene_of(answer.summary,
                                    {.compute = device->peak(describe::DType::kBf16)->value,
                                     .memory = device->memory_bandwidth.value,
                                     .on_chip = std::nullopt},
                                    device->usable_memory());
  EXPECT_TRUE(diagnose::know_device(*device, data, answer.scene));
  answer.findings = diagnose::device_findings(answer.scene);
  std::ranges::stable_sort(answer.findings.found, [](const Finding& a, const Finding& b) {
    return a.per_step > b.per_step;
  });
  return answer;
}

std::unique_ptr<Diagnosed> of_made(const MadeTraining& made) {
  auto recording =
      profile::read_profile_bytes(made_training(made), "made.json", profile::options_of_tests());
  EXPECT_TRUE(recording) << to_text(recording.error());
  auto answer = std::make_unique<Diagnosed>(device_diagnosis(*std::move(recording)));
  answer->scene.summary = &answer->summary;
  return answer;
}

const Finding* found(const Diagnosed& answer, std::string_view rule) {
  const auto at = std::ranges::find(answer.findings.found, rule, &Finding::rule);
  return at == answer.findings.found.end() ? nullptr : &*at;
}

std::string all_of(const Diagnosed& answer) {
  std::string text;
  for (const Finding& finding : answer.findings.found) {
    text += fmt::format("{} {:.3f} of {:.3f} ms: {}\n", finding.rule, finding.per_step / 1_ms,
                        answer.scene.step / 1_ms, finding.cause);
  }
  return text;
}

struct Fault {
  const char* rule;
  MadeTraining with;
  MadeTraining without;
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults{
      {"eager-attention", {.batch = 4, .attention = MadeAttention::kEager}, {.batch = 4}},
      {"eager-attention", {.batch = 4, .attention = MadeAttention::kMath}, {.batch = 4}},
      // Beside the matrix units: OfRealProfilesAreFoundFirst, and recorded (fp32_no_tf32).
      {"missing-tensor-cores",
       {.batch = 2, .is_single_precision = true, .has_tf32 = true},
       {.batch = 2}},
      {"unfused-optimizer",
       {.layers = 12, .hidden = 1024, .heads = 8, .batch = 2, .optimizer = MadeOptimizer::kLoop},
       {.layers = 12, .hidden = 1024, .heads = 8, .batch = 2}},
      {"unfused-optimizer", {.batch = 1, .optimizer = MadeOptimizer::kForeach}, {.batch = 1}},
      {"needless-recompute", {.recomputes = true}, {}},
      {"small-products", {.batch = 2, .has_small_products = true}, {.batch = 2}},
      {"memory-bound-epilogues", {.has_chain = true}, {}},
      {"memory-bound-epilogues", {.has_norm_parts = true}, {}},
      {"vocabulary-logits", {.layers = 2, .vocabulary = 152'064, .batch = 4}, {.batch = 4}},
      {"relayout-copies", {.has_relayouts = true}, {}},
      {"clock-throttling", {.clock = 0.45}, {}}};
  return kFaults;
}

TEST(DeviceFaults, AreFoundFirst) {
  for (const Fault& fault : faults()) {
    SCOPED_TRACE(fault.rule);
    const auto with = of_made(fault.with);
    ASSERT_FALSE(with->findings.found.empty());
    EXPECT_EQ(with->findings.found.front().rule, fault.rule) << all_of(*with);
  }
}

TEST(DeviceFaults, WhatIsMendedIsNotFound) {
  for (const Fault& fault : faults()) {
    SCOPED_TRACE(fault.rule);
    const auto without = of_made(fault.without);
    EXPECT_EQ(found(*without, fault.rule), nullptr) << all_of(*without);
  }
}

// No finding above 3 % of a step of a healthy run.
TEST(DeviceFaults, AHealthyRunRaisesNoAlarm) {
  for (const std::int64_t batch : {1, 2, 4, 8}) {
    const auto plain = of_made({.batch = batch});
    for (const Finding& finding : plain->findings.found) {
      EXPECT_LT(finding.per_step / plain->scene.step, 0.03) << all_of(*plain);
    }
  }
}

// What mending saves is no more than the finding says, and at least half of it.
TEST(DeviceFaults, SavingsAreWithinTheCeiling) {
  for (const Fault& fault : faults()) {
    SCOPED_TRACE(fault.rule);
    if (fault.rule == std::string_view("vocabulary-logits")) {
      continue;  // the run beside it has another vocabulary
    }
    const auto with = of_made(fault.with);
    const auto without = of_made(fault.without);
    const Seconds saved = with->scene.step - without->scene.step;
    const Finding* finding = found(*with, fault.rule);
    ASSERT_NE(finding, nullptr);
    EXPECT_GE(finding->per_step, saved) << all_of(*with);
    EXPECT_LE(0.5 * finding->per_step, saved) << all_of(*with);
  }
}

TEST(DeviceFaults, WithoutShapesRulesAbstain) {
  const auto with = of_made(
      {.batch = 4, .attention = MadeAttention::kEager, .has_chain = true, .has_shapes = false});
  EXPECT_EQ(found(*with, "eager-attention"), nullptr);
  EXPECT_EQ(found(*with, "memory-bound-epilogues"), nullptr);
  std::vector<std::string> abstained;
  for (const diagnose::Abstention& one : with->findings.abstained) {
    EXPECT_EQ(one.missing, "shapes");
    abstained.push_back(one.rule);
  }
  EXPECT_NE(std::ranges::find(abstained, "eager-attention"), abstained.end());
  EXPECT_NE(std::ranges::find(abstained, "memory-bound-epilogues"), abstained.end());
}

TEST(DeviceFaults, EveryRuleIsInTheBookAndShowsWhereToLook) {
  const auto book = diagnose::RuleBook::load(describe::DataStore());
  ASSERT_TRUE(book);
  for (const Fault& fault : faults()) {
    const auto with = of_made(fault.with);
    for (const Finding& finding : with->findings.found) {
      const diagnose::Rule* rule = book->find(finding.rule);
      ASSERT_NE(rule, nullptr) << finding.rule;
      EXPECT_FALSE(finding.evidence.empty()) << finding.rule;
      Seconds parts{};
      for (const Seconds part : finding.parts) {
        parts += part;
      }
      EXPECT_NEAR(parts / finding.per_step, 1.0, 1e-9) << finding.rule;
      for (const std::string& id : finding.advice) {
        EXPECT_NE(std::ranges::find(rule->advice, id, &diagnose::Advice::id), rule->advice.end());
      }
    }
  }
}

// ---- real ----

std::unique_ptr<Diagnosed> of_file(const std::string& name) {
  const std::filesystem::path file = source_folder() / "../shared/traces" / name;
  if (!std::filesystem::exists(file)) {
    return nullptr;
  }
  auto recording = profile::read_profile(file, profile::options_of_tests());
  EXPECT_TRUE(recording) << to_text(recording.error());
  auto answer = std::make_unique<Diagnosed>(device_diagnosis(*std::move(recording)));
  answer->scene.summary = &answer->summary;
  return answer;
}

struct RealFault {
  const char* file;
  const char* first;
  double least_share;  // of the step, as its finding says
  double most_share;
};

// Recorded on one H200. Steps without a profiler took 237.6 ms eager against 128.6 with fused
// attention (host-bound), 263.5 ms with the forward pass run again against 191.2 without.
TEST(DeviceFaults, OfRealProfilesAreFoundFirst) {
  for (const RealFault& real :
       {RealFault{"h200/llama-350m_s2048_b4_bf16_none_eager.json.gz", "eager-attention", 0.6, 0.7},
        RealFault{"h200/llama-350m_s2048_b4_fp32_none_sdpa.json.gz", "missing-tensor-cores", 0.55,
                  0.65},
        RealFault{"h200/llama-1.3b_s2048_b4_bf16_full_sdpa.json.gz", "needless-recompute", 0.2,
                  0.3},
        RealFault{"xplane/jax_h200_llama_8layer.xplane.pb", "eager-attention", 0.3, 0.4}}) {
    SCOPED_TRACE(real.file);
    const auto answer = of_file(real.file);
    if (!answer) {
      GTEST_SKIP() << "no traces beside the checkout (../shared/traces)";
    }
    ASSERT_FALSE(answer->findings.found.empty());
    const Finding& first = answer->findings.found.front();
    EXPECT_EQ(first.rule, real.first) << all_of(*answer);
    EXPECT_GT(first.per_step / answer->scene.step, real.least_share);
    EXPECT_LT(first.per_step / answer->scene.step, real.most_share);
  }
}

// The plain ones have none of these; what Hugging Face's models leave unfused is there in truth.
TEST(DeviceFaults, PlainRealProfilesHaveOnlyWhatIsUnfused) {
  for (const char* file : {"h200/llama-350m_s2048_b4_bf16_none_sdpa.json.gz",
                           "h200/llama-1.3b_s2048_b4_bf16_none_sdpa.json.gz",
                           "h200/gpt2-1.5b_s1024_b4_bf16_none_sdpa.json.gz",
                           "h200/llama2-7b_s2048_b1_bf16_none_sdpa.json.gz",
                           "h200/llama3.2-1b_s8192_b2_bf16_none_sdpa.json.gz"}) {
    SCOPED_TRACE(file);
    const auto answer = of_file(file);
    if (!answer) {
      GTEST_SKIP() << "no traces beside the checkout (../shared/traces)";
    }
    for (const Finding& finding : answer->findings.found) {
      EXPECT_TRUE(finding.rule == "memory-bound-epilogues" || finding.rule == "relayout-copies")
          << all_of(*answer);
    }
  }
}

// A device that is busy 95 % of its step writes and reads scores: memory binds it.
TEST(DeviceFaults, OperatorsOverruleTheDutyCycle) {
  const auto answer = of_file("h200/llama-350m_s2048_b4_bf16_none_eager.json.gz");
  if (!answer) {
    GTEST_SKIP() << "no traces beside the checkout (../shared/traces)";
  }
  const diagnose::BottleneckFacts facts = diagnose::bottleneck_facts(answer->scene);
  EXPECT_GT(facts.duty_cycle, 0.95);
  EXPECT_EQ(diagnose::bottleneck_of(facts).bottleneck, diagnose::Bottleneck::kMemory);
}

}  // namespace
}  // namespace sextant::tests
