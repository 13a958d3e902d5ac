#include "machine/machine.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"
#include "describe/model/load_model.h"

namespace sextant::machine {
namespace {

using describe::Job;

const describe::DataStore& data_files() {
  static const describe::DataStore kData;
  return kData;
}

Job job_on(const char* cluster) {
  Job job;
  job.model = *describe::load_model("llama-3.1-8b", data_files());
  job.cluster = *describe::load_cluster(cluster, data_files());
  job.sequences.length = 4096;
  job.global_batch = job.cluster.devices;
  return job;
}

bool assumes(const describe::Assumptions& assumed, std::string_view key, std::string_view value) {
  return std::any_of(assumed.begin(), assumed.end(), [&](const describe::Assumption& one) {
    return one.key == key && one.value == value;
  });
}

TEST(Machine, SaysWhatItAssumesAndWhichFilesItRestsOn) {
  const auto machine = step_machine(job_on("64xh100-sxm"), data_files());
  ASSERT_TRUE(machine);
  EXPECT_TRUE(assumes(machine->assumed, "attention", "cudnn"));
  EXPECT_TRUE(assumes(machine->assumed, "kernels", "h200-sxm"));
  for (const char* file : {"kernels/h200-sxm.toml", "host.toml", "step.toml", "step_spread.toml",
                           "comm/links/nvlink4.toml", "memory.toml"}) {
    EXPECT_TRUE(std::any_of(machine->inputs.begin(), machine->inputs.end(), [&](const auto& input) {
      return input.first.find(file) != std::string::npos && input.second.size() == 64;
    })) << file;
  }
}

// The links of a 4090's host are not known: alone it needs none.
TEST(Machine, ADeviceAloneNeedsNoLinks) {
  EXPECT_TRUE(step_machine(job_on("1xrtx-4090"), data_files()));
  const auto two = step_machine(job_on("2xrtx-4090"), data_files());
  ASSERT_FALSE(two);
  EXPECT_NE(two.error().allowed.find("compute alone: «explain» compute"), std::string::npos);
}

TEST(Machine, ManyJobsHaveTheMachinesThatEachHasAlone) {
  Machines machines(data_files());
  for (const char* cluster : {"64xh100-sxm", "16xa100-sxm-80g", "64xh100-sxm", "v5p-128"}) {
    const Job job = job_on(cluster);
    const auto among = machines.step(job);
    const auto alone = step_machine(job, data_files());
    ASSERT_TRUE(among && alone) << cluster;
    EXPECT_EQ(among->model.domain_size, alone->model.domain_size);
    EXPECT_EQ(among->assumed, alone->assumed);
    EXPECT_EQ(among->inputs, alone->inputs);
  }
}

}  // namespace
}  // namespace sextant::machine
