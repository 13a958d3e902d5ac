// The frameworks' own catalogues laid beside what this program writes and reads: every flag exists,
// every performance recipe is a legal job.
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/places_testing.h"
#include "base/text.h"
#include "describe/cluster/load_cluster.h"
#include "describe/json_value.h"
#include "describe/layout/rules.h"
#include "emit/bridge.h"
#include "emit/megatron_arguments.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

const describe::DataStore kData;

fs::path catalogue(std::string_view name) {
  return shared_folder() / "catalog" / name;
}

std::set<std::string> flags_of_catalogue(const fs::path& file) {
  std::set<std::string> flags;
  const auto text = read_text(file, 4_MiB);
  const auto json = describe::JsonValue::parse(text.value_or("[]"), file.string());
  for (const describe::JsonValue& flag : json->elements()) {
    for (const describe::JsonValue& name : flag.member("names")->elements()) {
      std::string key = name.text().value_or("");
      key.erase(0, key.find_first_not_of('-'));
      for (char& c : key) {
        c = c == '-' ? '_' : c;
      }
      flags.insert(key);
    }
  }
  return flags;
}

TEST(FrameworkCatalog, EveryMegatronFlagExists) {
  const fs::path file = catalogue("megatron_core_0.20_flags.json");
  if (!fs::is_regular_file(file)) {
    GTEST_SKIP() << "no catalogue of flags beside the sources: nothing read";
  }
  const std::set<std::string> flags = flags_of_catalogue(file);
  ASSERT_GT(flags.size(), 800U);
  // Derived by Megatron, or Megatron-Bridge's alone.
  const std::set<std::string> no_flags{"virtual_pipeline_model_parallel_size",
                                       "world_size",
                                       "dataset_seq_length",
                                       "mixed_precision",
                                       "mixed_grad_reduce_in_fp32",
                                       "grad_reduce_in_fp32",
                                       "activation_func"};
  for (const emit::Spelling& spelling : emit::spellings()) {
    const std::string flag(spelling.flag.empty() ? spelling.name : spelling.flag);
    EXPECT_TRUE(flags.contains(flag) || no_flags.contains(flag)) << flag;
  }
}

TEST(FrameworkCatalog, TheTableOfFlagsIsTheCatalogues) {
  const fs::path file = catalogue("megatron_core_0.20_flags.json");
  if (!fs::is_regular_file(file)) {
    GTEST_SKIP() << "no catalogue of flags beside the sources: nothing read";
  }
  for (const std::string& flag : flags_of_catalogue(file)) {
    emit::Reading reading;
    const std::vector<emit::Setting> given{{flag, {"1"}, {}}};
    emit::arguments_of_flags(given, kData, reading);
    EXPECT_TRUE(reading.unknown.empty()) << flag;
  }
}

constexpr const char* kStages = "LAYERS-STAGES";  // its stages come from code of its base
constexpr const char* kExperts =
    "EXPERT-WORLD";  // a recipe for fewer devices that keeps the expert parallelism of the larger

constexpr const char* kBoth = "EXPERT-WORLD LAYERS-STAGES";

// The rules that the row of the table breaks as it stands.
const std::map<std::string, std::string, std::less<>> kExceptions{
    {"deepseek_v3_pretrain_1024gpu_h100_bf16", kStages},
    {"deepseek_v3_pretrain_1024gpu_h100_fp8cs", kStages},
    {"deepseek_v3_pretrain_128gpu_vr200_bf16", kExperts},
    {"deepseek_v3_pretrain_128gpu_vr200_fp8cs", kExperts},
    {"deepseek_v3_pretrain_128gpu_vr200_fp8mx", kExperts},
    {"deepseek_v3_pretrain_128gpu_vr200_nvfp4", kExperts},
    {"deepseek_v3_pretrain_64gpu_h100_bf16", kBoth},
    {"deepseek_v3_pretrain_64gpu_h100_fp8cs", kBoth},
    {"qwen3_235b_a22b_pretrain_64gpu_gb200_fp8cs", kExperts},
    {"qwen3_235b_a22b_pretrain_64gpu_gb200_fp8mx", kExperts},
    {"qwen3_235b_a22b_pretrain_64gpu_gb200_nvfp4", kExperts},
    {"qwen3_235b_a22b_pretrain_64gpu_gb300_bf16", kExperts},
    {"qwen3_235b_a22b_pretrain_64gpu_gb300_fp8cs", kExperts},
    {"qwen3_235b_a22b_pretrain_64gpu_gb300_fp8mx", kExperts},
    {"qwen3_235b_a22b_pretrain_64gpu_gb300_nvfp4", kExperts},
};

std::string violations(const emit::BridgeRecipe& recipe, const emit::Reading& reading) {
  describe::Job job;
  job.model = *reading.model;
  job.cluster = *describe::load_cluster(std::to_string(recipe.devices) + "xb200-sxm", kData);
  job.layout = reading.layout;
  job.sequences.length = reading.sequence.value_or(0);
  job.global_batch = reading.global_batch.value_or(0);
  std::vector<std::string> broken;
  for (const describe::Violation& violation : describe::check_rules(job)) {
    broken.emplace_back(violation.rule);
  }
  return join(broken, " ");
}

TEST(FrameworkCatalog, EveryPerformanceRecipeIsALegalJob) {
  const std::vector<emit::BridgeRecipe> recipes = emit::bridge_recipes(kData);
  ASSERT_GT(recipes.size(), 200U);
  for (const emit::BridgeRecipe& recipe : recipes) {
    emit::Settings settings;
    settings.dialect = emit::Dialect::kBridge;
    settings.given = {{"recipe", {recipe.name}, {}}};
    const emit::Reading reading = emit::read_bridge(settings, kData);
    ASSERT_TRUE(reading.model) << recipe.name;
    EXPECT_TRUE(reading.unresolved.empty())
        << recipe.name << ": " << reading.unresolved.front().what << " "
        << reading.unresolved.front().why;
    EXPECT_TRUE(reading.unknown.empty()) << recipe.name;
    const auto found = kExceptions.find(recipe.name);
    EXPECT_EQ(violations(recipe, reading), found == kExceptions.end() ? "" : found->second)
        << recipe.name;
  }
}

}  // namespace
}  // namespace sextant
