#include "agents/mesh_slice.h"

#include <gtest/gtest.h>

#include "agents/case_testing.h"

namespace sextant::agents {
namespace {

constexpr std::int64_t kWide = 28'672;  // d_ff of Llama 3 70B, as data/agents/mesh.toml has it

MeshSlice slice_of(const std::string& device, std::int64_t chips) {
  auto slice =
      mesh_slice({.where = "case.toml", .device = device, .chips = chips}, kWide, case_data());
  EXPECT_TRUE(slice) << to_text(slice.error());
  return slice ? std::move(*slice) : MeshSlice{};
}

TEST(MeshSlice, AxesTakeWholeSidesWhereTheirProductsAre) {
  const Topology cube{8, 8, 8};
  EXPECT_TRUE(takes_whole_sides(mesh_of(1, 1, 1), Topology{1, 1, 1}));
  EXPECT_TRUE(takes_whole_sides(mesh_of(8, 8, 8), cube));
  EXPECT_TRUE(takes_whole_sides(mesh_of(64, 1, 8), cube));
  EXPECT_TRUE(takes_whole_sides(mesh_of(512, 1, 1), cube));
  EXPECT_FALSE(takes_whole_sides(mesh_of(16, 4, 8), cube));
  EXPECT_TRUE(takes_whole_sides(mesh_of(16, 4, 8), Topology{4, 8, 16}));
  EXPECT_TRUE(takes_whole_sides(mesh_of(8, 16, 1), Topology{1, 8, 16}));
  EXPECT_FALSE(takes_whole_sides(mesh_of(2, 64, 1), Topology{1, 8, 16}));
}

TEST(MeshSlice, NumbersOfAV5pAreThoseOfItsSource) {
  const MeshSlice slice = slice_of("tpu-v5p", 512);
  EXPECT_EQ(slice.topology, (Topology{8, 8, 8}));  // the most even one
  EXPECT_FALSE(slice.is_topology_told);
  // The scaling book: 459 TFLOPS over 2 · 90 GB/s of one axis are 2,550 FLOPs a byte, and
  // 28,672 / 2,550 = 11.2; down to a power of two.
  EXPECT_EQ(slice.longest_model, 8);
  // 600 GB/s over all links: 459e12 / 600e9 = 765; twice that under a causal mask.
  EXPECT_NEAR(slice.hidden_block, 1530.0, 1.0);
}

TEST(MeshSlice, TheMemoryIsTheCasesWhereItSays) {
  const Case asked{.where = "case.toml", .device = "tpu-v6e", .chips = 16, .hbm_gib = 8.0};
  const auto slice = mesh_slice(asked, kWide, case_data());
  ASSERT_TRUE(slice);
  EXPECT_EQ(slice->memory, 8.0 * 1_GiB);
  EXPECT_EQ(slice->cluster.device.usable_memory(), 8.0 * 1_GiB);
  EXPECT_EQ(slice_of("tpu-v6e", 16).memory, *chip_memory("tpu-v6e", case_data()));
}

TEST(MeshSlice, WhatIsNoSliceIsAnErrorThatSaysWhatIs) {
  const auto error_of = [](const Case& asked) {
    const auto slice = mesh_slice(asked, kWide, case_data());
    return slice ? std::string() : to_text(slice.error());
  };
  EXPECT_NE(error_of({.where = "case.toml", .device = "h100-sxm", .chips = 8}).find("is no TPU"),
            std::string::npos);
  EXPECT_NE(error_of({.where = "case.toml",
                      .device = "tpu-v6e",
                      .chips = 512,
                      .topology = Topology{1, 16, 32}})
                .find("16x16"),
            std::string::npos);
  EXPECT_NE(error_of({.where = "case.toml", .device = "tpu-v6e", .chips = 100'000}), std::string());
  EXPECT_NE(error_of({.where = "case.toml", .device = "tpu-v9", .chips = 8}), std::string());
}

}  // namespace
}  // namespace sextant::agents
