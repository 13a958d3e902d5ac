// Batch headers as Slurm reads them, and lists of hosts.
#include "capture/batch.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace sextant::capture {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

std::string value_of(const Variables& variables, std::string_view name) {
  const auto found = std::ranges::find(variables, name, &Variables::value_type::first);
  return found == variables.end() ? std::string("(unset)") : found->second;
}

TEST(HostNames, ARangeIsEveryHostOfIt) {
  EXPECT_EQ(host_names("n[0-2,7],m5"), (std::vector<std::string>{"n0", "n1", "n2", "n7", "m5"}));
  EXPECT_EQ(host_names("r[08-11]"), (std::vector<std::string>{"r08", "r09", "r10", "r11"}));
  EXPECT_TRUE(host_names("").empty());
}

TEST(HostNames, AHostileListIsBoundedAndEnds) {
  EXPECT_EQ(host_names("n[0-999999999999]").size(), 100'000U);
  EXPECT_EQ(host_names("n[5-2]").size(), 0U);
  EXPECT_EQ(host_names("n[x-y],]]][").size(), host_names("n[x-y],]]][").size());
}

TEST(BatchWords, CommentsAndOtherLinesAreNone) {
  EXPECT_EQ(
      batch_words("#!/bin/bash\n#SBATCH --nodes=4 # four\n##SBATCH -n 2\n#SBATCH -N 8 -t 1\n"),
      (std::vector<std::string>{"--nodes=4", "-N", "8", "-t", "1"}));
}

TEST(BatchVariables, TheHeaderSaysHowManyNodesAndTasks) {
  const Variables variables =
      batch_variables({"--nodes=4", "--ntasks-per-node", "8", "--gres=gpu:h100:8"}, {});
  EXPECT_EQ(value_of(variables, "SLURM_NNODES"), "4");
  EXPECT_EQ(value_of(variables, "SLURM_NTASKS"), "32");
  EXPECT_EQ(value_of(variables, "SLURM_GPUS_ON_NODE"), "8");
  EXPECT_EQ(value_of(variables, "SLURM_JOB_NODELIST"), "node[0-3]");
}

TEST(BatchVariables, WhatTheUserSaysStandsOverTheHeader) {
  const Variables variables =
      batch_variables({"--nodes=4", "--gpus-per-node=4"}, {.devices_per_node = 8, .nodes = 16});
  EXPECT_EQ(value_of(variables, "SLURM_JOB_NUM_NODES"), "16");
  EXPECT_EQ(value_of(variables, "SLURM_GPUS_PER_NODE"), "8");
}

TEST(BatchVariables, WhatNobodySaysIsNotSet) {
  EXPECT_EQ(value_of(batch_variables({"-t", "1"}, {}), "SLURM_NNODES"), "(unset)");
}

}  // namespace
}  // namespace sextant::capture
