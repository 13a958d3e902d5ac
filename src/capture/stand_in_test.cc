// Stand-ins: who has one, what tools that are asked for devices say, what a launcher would start.
#include "capture/stand_in.h"

#include <gtest/gtest.h>

#include "capture/stand_ins.h"

namespace sextant::capture {
namespace {

TEST(StandIns, APathAndAVersionAreTheSameProgram) {
  ASSERT_NE(stand_in_of("/usr/bin/python3.11"), nullptr);
  EXPECT_EQ(stand_in_of("/usr/bin/python3.11")->kind, StandInKind::kPython);
  ASSERT_NE(stand_in_of("torchrun"), nullptr);
  EXPECT_EQ(stand_in_of("pythonic"), nullptr);
  EXPECT_EQ(stand_in_of("bash"), nullptr);
}

TEST(StandIns, NobodyIsOneOutsideOfACapture) {
  EXPECT_FALSE(is_stand_in_call("torchrun"));
}

TEST(DeviceTool, SaysWhatTheUserSaid) {
  const Answers answers{.device_name = "NVIDIA A100", .devices_per_node = 2};
  EXPECT_EQ(device_tool_text(std::vector<std::string>{"nvidia-smi", "-L"}, answers),
            "GPU 0: NVIDIA A100 (UUID: GPU-0)\nGPU 1: NVIDIA A100 (UUID: GPU-1)\n");
  EXPECT_EQ(device_tool_text(std::vector<std::string>{"nvidia-smi", "--query-gpu=index,name",
                                                      "--format=csv,noheader"},
                             answers),
            "0, NVIDIA A100\n1, NVIDIA A100\n");
  EXPECT_EQ(
      device_tool_text(std::vector<std::string>{"nvidia-smi", "--query-gpu=name", "--format=csv"},
                       answers),
      "name\nNVIDIA A100\nNVIDIA A100\n");
}

TEST(LaunchedWord, IsTheProgramBehindTheOptions) {
  const auto launched = [](const std::vector<std::string>& words) {
    return launched_word(words, true);
  };
  EXPECT_EQ(launched({"srun", "-N", "4", "--label", "bash", "-c", "x"}), 4U);
  EXPECT_EQ(launched({"srun", "torchrun", "bash"}), 1U);
  EXPECT_EQ(launched({"docker", "run", "--rm", "nvcr.io/nvidia/pytorch:24.01", "torchrun"}), 4U);
  EXPECT_EQ(launched({"srun", "--nodes=4"}), 2U);
}

}  // namespace
}  // namespace sextant::capture
