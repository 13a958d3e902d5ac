#include "emit/launch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/scratch_folder_testing.h"
#include "base/text.h"
#include "emit/shell_job.h"

namespace sextant::emit {
namespace {

using ValuesByKey = std::map<std::string, std::vector<std::string>>;

ValuesByKey values_by_key(const std::vector<Setting>& settings) {
  ValuesByKey map;
  for (const Setting& setting : settings) {
    map[setting.key] = setting.values;
  }
  return map;
}

Writing writing_of(Dialect dialect) {
  Writing writing;
  writing.settings.dialect = dialect;
  writing.settings.launch = {
      {"nodes", {"4"}, {}}, {"devices_per_node", {"8"}, {}}, {"devices", {"32"}, {}}};
  writing.settings.environment = {{"CUDA_DEVICE_MAX_CONNECTIONS", {"1"}, {}},
                                  {"ODD", {"it's $HOME \"x\" `y` \\ #z"}, {}}};
  std::vector<Setting>& given = writing.settings.given;
  if (dialect == Dialect::kMegatron) {
    given = {{"tensor_model_parallel_size", {"8"}, {}},
             {"num_layers", {"61"}, {}},
             {"bf16", {"true"}, {}},
             {"pipeline_model_parallel_layout", {"Et*3|(tt|)*29,m|L"}, {}},
             {"moe_layer_freq", {"([0]*3+[1]*58)"}, {}},
             {"recompute_modules", {"moe_act", "mla_up_proj"}, {}},
             {"global_batch_size", {"1024"}, {}}};
  } else if (dialect == Dialect::kBridge) {
    given = {{"recipe", {"llama31_70b_config"}, {}},
             {"model.tensor_model_parallel_size", {"4"}, {}},
             {"model.recompute_modules", {"core_attn", "mlp"}, {}},
             {"mixed_precision", {"bf16_mixed"}, {}}};
  } else if (dialect == Dialect::kMaxtext) {
    given = {{"model_name", {"llama2-70b"}, {}}, {"ici_fsdp_parallelism", {"-1"}, {}}};
  } else if (dialect == Dialect::kTorchtitan) {
    given = {{"module", {"llama3"}, {}},
             {"config", {"llama3_8b"}, {}},
             {"parallelism.tensor_parallel_degree", {"2"}, {}},
             {"compile.enable", {"true"}, {}},
             {"parallelism.enable_sequence_parallel", {"false"}, {}}};
  }
  return writing;
}

constexpr Dialect kAll[] = {Dialect::kMegatron,       Dialect::kBridge,    Dialect::kTorchtitan,
                            Dialect::kTorchtitanToml, Dialect::kDeepspeed, Dialect::kMaxtext,
                            Dialect::kAccelerate,     Dialect::kNanotron};

bool on_command_line(Dialect dialect) {
  return config_file_name(dialect).empty() || dialect == Dialect::kTorchtitan;
}

TEST(LaunchScript, ReadsBackToTheSameSettings) {
  for (const Dialect dialect : kAll) {
    for (const Launcher launcher : {Launcher::kTorchrun, Launcher::kSlurm}) {
      const Writing writing = writing_of(dialect);
      const File file = launch_script(writing, describe::Job{}, launcher, {"made for a test"});
      const auto settings = parse_shell(file.text, file.name);
      ASSERT_TRUE(settings) << to_text(settings.error()) << "\n" << file.text;
      EXPECT_EQ(settings->dialect, dialect) << file.text;
      EXPECT_EQ(values_by_key(settings->environment), values_by_key(writing.settings.environment))
          << file.text;
      if (on_command_line(dialect)) {
        EXPECT_EQ(values_by_key(settings->given), values_by_key(writing.settings.given))
            << file.text;
      }
      ValuesByKey launch = values_by_key(settings->launch);
      if (!config_file_name(dialect).empty() && dialect != Dialect::kTorchtitan) {
        EXPECT_EQ(launch["config_file"].front(), config_file_name(dialect)) << file.text;
      }
      launch.erase("config_file");
      // JAX finds its devices itself: by hand, the script does not say how many.
      if (dialect != Dialect::kMaxtext || launcher == Launcher::kSlurm) {
        EXPECT_EQ(launch, values_by_key(writing.settings.launch)) << file.text;
      }
      EXPECT_TRUE(settings->unresolved.empty()) << settings->unresolved[0].what << file.text;
    }
  }
}

TEST(LaunchScript, IsValidBash) {
  if (std::system("bash -c true") != 0) {  // NOLINT(concurrency-mt-unsafe)
    GTEST_SKIP() << "there is no bash here";
  }
  const ScratchFolder folder;
  for (const Dialect dialect : kAll) {
    for (const Launcher launcher : {Launcher::kTorchrun, Launcher::kSlurm}) {
      const File file =
          launch_script(writing_of(dialect), describe::Job{}, launcher, {"a\nb", "", "`c` $(d)"});
      EXPECT_TRUE(file.executable);
      const std::string command = "bash -n '" + folder.write(file.name, file.text) + "'";
      EXPECT_EQ(std::system(command.c_str()), 0) << file.text;  // NOLINT(concurrency-mt-unsafe)
    }
  }
}

TEST(LaunchScript, GroupsMegatronFlagsByTopic) {
  const File file =
      launch_script(writing_of(Dialect::kMegatron), describe::Job{}, Launcher::kTorchrun, {});
  const auto at = [&](std::string_view text) { return file.text.find(text); };
  EXPECT_LT(at("MODEL_ARGS=("), at("--num-layers 61"));
  EXPECT_LT(at("PARALLEL_ARGS=("), at("--tensor-model-parallel-size 8"));
  EXPECT_LT(at("PRECISION_ARGS=("), at("--bf16"));
  EXPECT_LT(at("TRAINING_ARGS=("), at("--global-batch-size 1024"));
  EXPECT_NE(at("  --pipeline-model-parallel-layout 'Et*3|(tt|)*29,m|L'\n"), std::string::npos);
}

TEST(ShellQuoted, BashReadsTheWordBack) {
  EXPECT_EQ(shell_quoted("8"), "8");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted("$(rm -rf x)"), "'$(rm -rf x)'");
}

}  // namespace
}  // namespace sextant::emit
