// What is said of devices beside the files stands over their counts; the device is read from the
// scheduler's own words.
#include "emit/launched_devices.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"
#include "emit/dialects.h"
#include "emit/files.h"
#include "emit/round_trip_testing.h"

namespace sextant::emit {
namespace {

describe::Cluster cluster_named(const char* word) {
  auto cluster = describe::load_cluster(word, built_in_data());
  EXPECT_TRUE(cluster) << word;
  return *cluster;
}

Reading read_on(const std::string& text, const std::string& name, const char* cluster) {
  auto settings = parse(text, name);
  EXPECT_TRUE(settings) << to_text(settings.error());
  start_on(cluster_named(cluster), *settings);
  return read(*settings, built_in_data());
}

std::string asked_device(const std::vector<std::string>& words) {
  std::vector<ScriptWord> script;
  for (const std::string& word : words) {
    script.emplace_back();
    script.back().at.text = word;
  }
  std::string_view name;
  return device_asked_for(script, name) == nullptr ? "(none)" : std::string(name);
}

TEST(StartOn, AClusterStandsOverTheScriptsDefaultOfNodes) {
  const std::string script =
      "NNODES=${NNODES:-2}\n"
      "torchrun --nnodes $NNODES --nproc_per_node 8 pretrain_gpt.py --num-layers 32 "
      "--hidden-size 4096 --num-attention-heads 32 --tensor-model-parallel-size 8\n";
  const Reading reading = read_on(script, "t.sh", "64xh100-sxm");
  EXPECT_EQ(reading.devices, 64);
  EXPECT_EQ(reading.layout.dp, 8);
}

TEST(StartOn, WhatWasOpenAboutCountsIsSettled) {
  const std::string script =
      "torchrun --nnodes $UNSET --nproc_per_node $(nvidia-smi -L | wc -l) pretrain_gpt.py "
      "--num-layers 32 --hidden-size 4096 --num-attention-heads 32\n";
  const Reading reading = read_on(script, "t.sh", "16xh100-sxm");
  EXPECT_EQ(reading.devices, 16);
  for (const Unresolved& one : reading.unresolved) {
    EXPECT_EQ(one.what.find("--n"), std::string::npos) << one.what;
  }
}

TEST(StartOn, TheGlobalBatchOfTorchtitanFollowsFromTheDevices) {
  const Reading reading = read_on(
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 2\n"
      "seq_len = 8192\n[parallelism]\ndata_parallel_shard_degree = -1\n"
      "tensor_parallel_degree = 2\n",
      "t.toml", "64xh100-sxm");
  EXPECT_EQ(reading.layout.dp, 32);
  EXPECT_EQ(reading.global_batch, 64);
}

TEST(StartOn, TheGlobalBatchOfMaxtextFollowsFromTheDevices) {
  const Reading reading = read_on(
      "model_name: llama3-8b\nper_device_batch_size: 2\nmax_target_length: 8192\n"
      "ici_fsdp_parallelism: -1\n",
      "m.yml", "64xh100-sxm");
  EXPECT_EQ(reading.layout.dp, 64);
  EXPECT_EQ(reading.global_batch, 128);
}

TEST(StartOn, AcceleratesOwnCountGivesWay) {
  const Reading reading =
      read_on("distributed_type: FSDP\nnum_processes: 8\nnum_machines: 1\nmixed_precision: bf16\n",
              "a.yaml", "32xh100-sxm");
  EXPECT_EQ(reading.devices, 32);
}

TEST(StartOn, ALogKeepsWhatItRanOn) {
  Settings settings;
  settings.printed = {"run.log"};
  settings.launch = {{"devices", {"8"}, {}}};
  start_on(cluster_named("64xh100-sxm"), settings);
  EXPECT_EQ(find(settings.launch, "devices")->values.front(), "8");
}

TEST(DeviceAskedFor, IsTheNameInTheSchedulersWords) {
  EXPECT_EQ(asked_device({"--gres=gpu:a100:8"}), "a100");
  EXPECT_EQ(asked_device({"--gres", "gpu:h100:8(S:0-1)"}), "h100");
  EXPECT_EQ(asked_device({"--gpus-per-node=mi250x:8"}), "mi250x");
  EXPECT_EQ(asked_device({"-N", "4", "-C", "v100"}), "v100");
  EXPECT_EQ(asked_device({"--gres=gpu:8"}), "(none)");
  EXPECT_EQ(asked_device({"--gpus-per-node=8", "--gpus=64"}), "(none)");
  EXPECT_EQ(asked_device({"--gres"}), "(none)");
  EXPECT_EQ(asked_device({"--gres=gpu:$KIND:8"}), "(none)");
}

TEST(DeviceAskedFor, AHeadersDeviceIsTheJobs) {
  const auto settings = parse(
      "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:a100:8\n"
      "srun python pretrain_gpt.py --num-layers 32\n",
      "t.sbatch");
  ASSERT_TRUE(settings);
  ASSERT_NE(find(settings->launch, "device"), nullptr);
  EXPECT_EQ(find(settings->launch, "device")->values.front(), "a100");
}

}  // namespace
}  // namespace sextant::emit
