#include "calibrate/kernel_calls.h"

#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/places_testing.h"
#include "base/text.h"
#include "calibrate/testing.h"
#include "describe/cluster/load_cluster.h"
#include "describe/kernel_fact_list.h"
#include "measured/table.h"

namespace sextant::calibrate {
namespace {

namespace fs = std::filesystem;

// An H200 that the data does not know, of some generation: what it starts from are that
// generation's rules.
describe::Device unknown_device(const std::string& generation) {
  auto device = describe::load_device("h200-sxm", built_in_data());
  EXPECT_TRUE(device);
  device->id = "mine";
  device->generation = generation;
  return *device;
}

describe::KernelFacts rule_facts(const describe::Device& device) {
  const auto facts = describe::kernel_facts(built_in_data(), device);
  EXPECT_TRUE(facts) << (facts ? "" : to_text(facts.error()));
  return *facts;
}

constexpr std::string_view kHeader = "kind,variant,dtype,a,b,c,d,e,f,time_us\n";

// Shapes of a small table, times left as 1.
std::string table_text() {
  std::string text(kHeader);
  const auto add = [&text](std::string_view row) { text += fmt::format("{},1\n", row); };
  for (const int m : {128, 512, 2048, 8192, 32768}) {
    for (const char* weight : {"768,768", "4096,1024", "2048,8192", "14336,4096"}) {
      for (const char* variant : {"fprop", "dgrad", "wgrad"}) {
        add(fmt::format("gemm,{},bf16,{},{},,,", variant, m, weight));
      }
      add(fmt::format("gemm,fprop,fp8,{},{},,,", m, weight));
    }
    add(fmt::format("bmm,fprop,bf16,16,{},2048,4096,,", m / 16));
  }
  for (const char* shape : {"1,8,8,512,64", "1,12,12,1024,64", "4,16,16,2048,128",
                            "1,32,8,8192,128", "1,64,8,16384,128", "32,16,16,512,64"}) {
    for (const char* variant : {"flash-fwd", "flash-bwd", "cudnn-fwd", "cudnn-bwd"}) {
      add(fmt::format("attention,{},bf16,{},", variant, shape));
    }
  }
  for (const char* shape : {"512,512", "1024,768", "4096,1024", "4096,4096", "16384,4096",
                            "8192,8192", "32768,8192", "3000,5120", "16384,2048", "8192,16384"}) {
    for (const char* variant : {"copy", "add", "gelu", "rms_norm", "layer_norm_bwd", "dropout"}) {
      add(fmt::format("memory,{},bf16,{},,,,", variant, shape));
    }
  }
  for (const char* shape : {"2048,32000", "8192,50304", "4096,128256"}) {
    add(fmt::format("loss,ce_fwd_fp32cast,bf16,{},,,,", shape));
    add(fmt::format("loss,ce_bwd_fp32cast,bf16,{},,,,", shape));
  }
  for (const char* size : {"1000000", "10000000", "300000000", "1000000000", "3000000000"}) {
    add(fmt::format("optimizer,adamw_fused,float32,{},50,,,,", size));
    add(fmt::format("optimizer,adamw_fused,bfloat16,{},50,,,,", size));
  }
  for (const int mebibytes : {1, 16, 256, 1024}) {
    add(fmt::format("pcie,h2d_pinned,,{},,,,,", mebibytes));
  }
  return text;
}

std::vector<measured::Row> parsed(const std::string& text) {
  auto rows = measured::parse_table(text, "mine.csv", built_in_data());
  EXPECT_TRUE(rows) << (rows ? "" : to_text(rows.error()));
  return std::move(*rows);
}

// Times of the calls by other facts, in place of the measured ones.
void measure_by(const describe::KernelFacts& facts, const describe::Device& device,
                std::vector<cost::TimedCall>& calls) {
  const cost::ModelPair models{
      cost::device_model(facts, device, describe::AttentionKernel::kFlash),
      cost::device_model(facts, device, describe::AttentionKernel::kCudnn)};
  for (cost::TimedCall& call : calls) {
    call.measured = call.predict(models).alone();
  }
}

// Every constant that a table can tell is moved by up to 40 %, a different way for each key and
// seed; shares stay below 1.1.
describe::KernelFacts altered(describe::KernelFacts facts, std::size_t seed) {
  std::size_t number = seed;
  for (describe::KernelFact& fact : describe::kernel_fact_list(facts)) {
    if (fact.key().starts_with("power.") || fact.key().ends_with("_rows") ||
        fact.key() == "attention.softmax" || fact.key().ends_with("_gradient")) {
      continue;
    }
    number = (number * 29 + 17) % 101;  // 0 … 100
    const double factor = 0.7 + 0.7 * static_cast<double>(number) / 100.0;
    const bool share = fact.text().ends_with("ratio") && fact.number() < 1.2;
    fact.set_number(share ? std::min(1.1, fact.number() * factor) : fact.number() * factor);
  }
  return facts;
}

TEST(Calibrate, ChangesToTheModelsOwnConstantsAreFoundAgain) {
  const describe::Device device = unknown_device("hopper");
  const describe::KernelFacts start = rule_facts(device);
  const std::vector<measured::Row> rows = parsed(table_text());
  for (const std::size_t seed : {std::size_t{1}, std::size_t{5}}) {
    KernelCalls found = kernel_calls(rows);
    ASSERT_EQ(found.calls.size(), rows.size());
    const describe::KernelFacts truth = altered(start, seed);
    measure_by(truth, device, found.calls);
    const cost::KernelFit fit = cost::fit_kernels(found.calls, device, start, "mine.csv");
    const auto before = cost::family_errors(found.calls, start, device);
    const auto after = cost::family_errors(found.calls, fit.facts, device);
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      EXPECT_LE(after[i].error, 0.02)
          << after[i].family << " seed " << seed << " before " << before[i].error;
    }
  }
}

TEST(Calibrate, ATableThatAgreesChangesNothing) {
  const describe::Device device = unknown_device("hopper");
  const describe::KernelFacts start = rule_facts(device);
  const std::vector<measured::Row> rows = parsed(table_text());
  KernelCalls found = kernel_calls(rows);
  measure_by(start, device, found.calls);
  const cost::KernelFit fit = cost::fit_kernels(found.calls, device, start, "mine.csv");
  for (const cost::FittedKey& key : fit.keys) {
    EXPECT_EQ(key.before, key.after) << key.key;
  }
}

// Every shape follows the same constants, so those that were left out are met as well.
TEST(Calibrate, HalvesAreReportedForEveryFamily) {
  const describe::Device device = unknown_device("hopper");
  const describe::KernelFacts start = rule_facts(device);
  const std::vector<measured::Row> rows = parsed(table_text());
  KernelCalls found = kernel_calls(rows);
  measure_by(altered(start, 3), device, found.calls);
  const auto families = cost::family_errors(found.calls, start, device);
  const auto halves = cost::half_split(found.calls, device, start);
  ASSERT_EQ(halves.size(), families.size());
  for (std::size_t i = 0; i < halves.size(); ++i) {
    EXPECT_EQ(halves[i].family, families[i].family);
    if (halves[i].family.starts_with("gemm") || halves[i].family == "memory") {
      EXPECT_LE(halves[i].seen, 0.03) << halves[i].family;
      EXPECT_LE(halves[i].unseen, 0.06) << halves[i].family;
    }
  }
}

TEST(Calibrate, KeysWithTooFewRowsStay) {
  const describe::Device device = unknown_device("hopper");
  const describe::KernelFacts start = rule_facts(device);
  const std::vector<measured::Row> rows =
      parsed(std::string(kHeader) + "gemm,fprop,bf16,8192,8192,8192,,,,1000\n" +
             "gemm,fprop,bf16,8192,4096,8192,,,,500\n");
  const KernelCalls found = kernel_calls(rows);
  const cost::KernelFit fit = cost::fit_kernels(found.calls, device, start, "mine.csv");
  for (const cost::FittedKey& key : fit.keys) {
    EXPECT_FALSE(key.fitted) << key.key;
    EXPECT_EQ(key.before, key.after) << key.key;
  }
}

// A format that the rule has no shares of gets its own.
TEST(Calibrate, AFormatOfItsOwnIsAdded) {
  const describe::Device device = unknown_device("hopper");
  std::string text(kHeader);
  for (const int m : {1024, 2048, 4096, 8192}) {
    text += fmt::format("gemm,fprop,fp16,{},4096,4096,,,,{}\n", m, 0.06 * m);
  }
  const std::vector<measured::Row> rows = parsed(text);
  const KernelCalls found = kernel_calls(rows);
  const cost::KernelFit fit = cost::fit_kernels(found.calls, device, rule_facts(device), "m.csv");
  EXPECT_TRUE(fit.facts.rates[static_cast<std::size_t>(describe::DType::kFp16)]);
}

double family_mean(const std::vector<cost::FamilyError>& families, std::string_view first_word) {
  double sum = 0.0;
  std::int64_t calls = 0;
  for (const cost::FamilyError& family : families) {
    if (family.family.starts_with(first_word)) {
      sum += family.error * static_cast<double>(family.calls);
      calls += family.calls;
    }
  }
  return sum / static_cast<double>(std::max<std::int64_t>(calls, 1));
}

// From a generation that is near and from one that is far (47 % off on products, a factor of two
// and more on attention).
TEST(CalibrateTruth, AnH200FromTheRulesOfGenerations) {
  const fs::path table = shared_folder() / "truth" / "h200" / "gpu_kernels.csv";
  if (!fs::exists(table)) {
    GTEST_SKIP() << "no measured tables beside the sources: nothing read";
  }
  const auto rows = measured::read_table(table, built_in_data());
  ASSERT_TRUE(rows) << to_text(rows.error());
  const KernelCalls found = kernel_calls(*rows);
  for (const char* generation : {"hopper", "volta"}) {
    const describe::Device device = unknown_device(generation);
    const cost::KernelFit fit =
        cost::fit_kernels(found.calls, device, rule_facts(device), "gpu_kernels.csv");
    const auto after = cost::family_errors(found.calls, fit.facts, device);
    EXPECT_LE(family_mean(after, "gemm"), 0.07) << generation;
    EXPECT_LE(family_mean(after, "attention"), 0.10) << generation;
    EXPECT_LE(family_mean(after, "memory"), 0.12) << generation;
  }
}

}  // namespace
}  // namespace sextant::calibrate
