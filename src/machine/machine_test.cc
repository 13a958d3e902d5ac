#include "machine/machine.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"
#include "describe/model/load_model.h"
#include "machine/comm_models.h"

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
  const auto one = step_machine(job_on("1xrtx-4090"), data_files());
  ASSERT_TRUE(one);
  EXPECT_EQ(one->comm_factor, 1.0);
  EXPECT_FALSE(assumes(one->assumed, "links", "assumed-pcie4"));
}

// Finding 8 of the review of plan and estimate: 16 of 44 devices could not be timed.
TEST(Machine, CardsWhoseLinksNobodyMeasuredGetThoseOfTheirSlot) {
  struct Case {
    const char* cluster;
    const char* links;
  };
  for (const Case& one :
       {Case{"8xrtx-4090", "assumed-pcie4"}, Case{"8xh100-pcie", "assumed-pcie5"},
        Case{"8xh100-nvl", "assumed-pcie5"}, Case{"2xv100-pcie-16g", "assumed-pcie3"},
        Case{"8xrtx-a6000", "assumed-pcie4"}, Case{"4xmi250x", "assumed-xgmi2"},
        Case{"8xmi100", "assumed-xgmi2"}, Case{"8xt4", "assumed-pcie3"}}) {
    const auto machine = step_machine(job_on(one.cluster), data_files());
    ASSERT_TRUE(machine) << one.cluster << ": " << to_text(machine.error());
    EXPECT_TRUE(assumes(machine->assumed, "links", one.links)) << one.cluster;
    EXPECT_GE(machine->comm_factor, 3.0) << one.cluster;
  }
}

TEST(Machine, EveryDeviceOfTheDataCanBeTimed) {
  for (const std::string& id : data_files().list("devices", "toml")) {
    const auto cluster = describe::load_cluster("4x" + id, data_files());
    if (cluster) {  // TPUs come in slices
      EXPECT_TRUE(step_machine(job_on(("4x" + id).c_str()), data_files())) << id;
    }
  }
}

// Finding 9: sockets were priced as RoCE, and beat InfiniBand.
TEST(Machine, SocketsAreNotRdma) {
  const auto rate = [](const char* cluster) { return step_machine(job_on(cluster), data_files()); };
  const auto sockets = rate("64xh100-sxm@ethernet");
  const auto roce = rate("64xh100-sxm@roce-100");
  ASSERT_TRUE(sockets && roce);
  EXPECT_TRUE(assumes(sockets->assumed, "network", "tcp"));
  EXPECT_GE(sockets->comm_factor, 2.0);
  EXPECT_EQ(roce->comm_factor, 1.0);
  // What a host's processors copy is less than its eight cards of 12.5 GB/s carry.
  EXPECT_GT(sockets->model.comm[describe::NetworkKey::kMostHost], 0.0);
  EXPECT_LT(sockets->model.comm[describe::NetworkKey::kMostHost], 8 * 12.5e9);
  EXPECT_GT(sockets->model.comm[describe::NetworkKey::kHop],
            3.0 * roce->model.comm[describe::NetworkKey::kHop]);
}

// Finding 7: a domain below the node was ignored.
TEST(Machine, DomainsBehindSwitchesAreAsLargeAsIsStated) {
  describe::Cluster cluster = *describe::load_cluster("64xh100-sxm", data_files());
  EXPECT_EQ(reach_without_network(cluster), 8);
  cluster.system.domain_size.value = 2;
  EXPECT_EQ(reach_without_network(cluster), 2);
  EXPECT_EQ(placed_domain(cluster), 2);
  // Cards of a host reach each other over its slots, whatever a bridge joins.
  const describe::Cluster cards = *describe::load_cluster("8xh100-nvl", data_files());
  EXPECT_EQ(cards.system.domain_size.value, 2);
  EXPECT_EQ(reach_without_network(cards), 8);
}

// Finding 18: 900 W are a GH200's CPU's and memory's as well.
TEST(Machine, ASuperchipIsNotFasterThanWhatItsGpuMayDraw) {
  const auto gh200 = step_machine(job_on("4xgh200"), data_files());
  const auto h100 = step_machine(job_on("8xh100-sxm"), data_files());
  ASSERT_TRUE(gh200 && h100);
  EXPECT_EQ(gh200->model.device.rate(describe::DType::kBf16).slowdown,
            h100->model.device.rate(describe::DType::kBf16).slowdown);
  EXPECT_FALSE(gh200->power) << "what the GPU alone draws is not published";
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
