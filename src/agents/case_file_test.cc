#include "agents/case_file.h"

#include <gtest/gtest.h>

#include "agents/case_testing.h"

namespace sextant::agents {
namespace {

constexpr std::string_view kWhole = R"(device = "tpu-v6e"
chips = 16
topology = "4x4"
kind = "fine-tuning"
batch = 32
sequence_length = "unknown"
model = "a secret"
hbm_gib = 24.5
baseline_mesh = { data = 4, seq = 4 }
[kpi]
step_time_ms = 200
busy_time_ms = 150
communication_share = 0.25
mean_all_reduce_us = 12.5
[[top_ops]]
name = "all-reduce"
category = "all-reduce"
total_time_ps = 1000000
occurrences = 672
share = 0.5
bound = "hbm"
efficiency = 0.1
[[top_ops]]
name = "dot"
share = 0.25
bound = "compute"
[answer]
adopted = { data = 16 }
nonsense = [ 1, 2 ]
)";

Case read_whole(std::string_view text) {
  auto read = read_case(text, "case.toml");
  EXPECT_TRUE(read) << to_text(read.error());
  return read ? std::move(*read) : Case{};
}

std::string error_of(std::string_view text) {
  const auto read = read_case(text, "case.toml");
  return read ? std::string() : to_text(read.error());
}

std::string whole_with(std::string_view from, std::string_view to) {
  std::string text(kWhole);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(CaseFile, TheLeastIsADeviceAndItsChips) {
  const Case least = read_whole("device = \"tpu-v5p\"\nchips = 8\n");
  EXPECT_EQ(least.chips, 8);
  EXPECT_FALSE(least.topology);
  EXPECT_FALSE(least.baseline);
  EXPECT_FALSE(least.batch);
  EXPECT_EQ(least.kind, "training");
  EXPECT_TRUE(least.operators.empty());
}

TEST(CaseFile, AllThatItSaysIsRead) {
  const Case whole = read_whole(kWhole);
  EXPECT_EQ(whole.device, "tpu-v6e");
  EXPECT_EQ(whole.topology, (Topology{1, 4, 4}));
  EXPECT_EQ(whole.batch, 32);
  EXPECT_FALSE(whole.sequence_length);  // "unknown"
  EXPECT_EQ(whole.model, "a secret");
  EXPECT_EQ(whole.hbm_gib, 24.5);
  EXPECT_EQ(whole.baseline, mesh_of(4, 4, 1));
  ASSERT_TRUE(whole.kpis.step);
  EXPECT_DOUBLE_EQ(whole.kpis.step->base(), 0.2);
  EXPECT_DOUBLE_EQ(whole.kpis.duty_cycle.value_or(0), 0.75);  // 150 ms of 200 ms
  EXPECT_DOUBLE_EQ(whole.kpis.mean_all_reduce->base(), 12.5e-6);
  ASSERT_EQ(whole.operators.size(), 2U);
  EXPECT_EQ(whole.operators[0].occurrences, 672);
  EXPECT_DOUBLE_EQ(whole.operators[0].total->base(), 1e-6);
  EXPECT_EQ(whole.operators[0].bound, metrics::OperatorBound::kMemory);
  EXPECT_EQ(whole.operators[1].bound, metrics::OperatorBound::kCompute);
  EXPECT_FALSE(whole.operators[1].efficiency);
}

TEST(CaseFile, TheAnswerIsNeverLookedInto) {
  const Case with = read_whole(kWhole);
  const Case without = read_whole(kWhole.substr(0, kWhole.find("[answer]")));
  EXPECT_EQ(with.baseline, without.baseline);
  EXPECT_EQ(with.operators.size(), without.operators.size());
  EXPECT_EQ(error_of(whole_with("nonsense = [ 1, 2 ]", "x = { y = [ [ 1 ] ] }")), "");
}

TEST(CaseFile, ChipsFollowFromTheTopology) {
  const Case slice = read_whole("device = \"tpu-v5p\"\ntopology = \"8x4x2\"\n");
  EXPECT_EQ(slice.chips, 64);
  EXPECT_EQ(slice.topology, (Topology{2, 4, 8}));
  EXPECT_EQ(to_text(*slice.topology), "2x4x8");
}

TEST(CaseFile, ARecordingFromElsewhereHasItsOwnMesh) {
  const Case moved = read_whole(
      "device = \"tpu-v6e\"\ntopology = \"8x16\"\nbatch = 2\n"
      "profiled_on = { chips = 256, topology = \"16x16\", mesh = { data = 2, model = 4, seq = 32 } "
      "}\n");
  ASSERT_TRUE(moved.profiled);
  EXPECT_EQ(moved.profiled->device, "tpu-v6e");
  EXPECT_EQ(moved.profiled->mesh, mesh_of(2, 32, 4));
  EXPECT_EQ(moved.chips, 128);
}

TEST(CaseFile, WhatIsWrongIsSaidWithItsLine) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "device is missing"},
      {"device = \"tpu-v5p\"\n", "neither chips nor topology"},
      {"device = 5\nchips = 8\n", "case.toml:1"},
      {"chips = 8\n", "device is missing"},
      {whole_with("chips = 16", "chips = 17"), "17"},
      {whole_with("chips = 16", "chips = 0"), "case.toml:2"},
      {whole_with("chips = 16", "chips = -1"), "case.toml:2"},
      {whole_with("topology = \"4x4\"", "topology = \"4x4x4x4\""), "case.toml:3"},
      {whole_with("kind = \"fine-tuning\"", "kind = \"serving\""), "serving is out of scope"},
      {whole_with("kind = \"fine-tuning\"", "kind = \"decoding\""), "serving is out of scope"},
      {whole_with("kind = \"fine-tuning\"", "kind = \"cooking\""), "cooking"},
      {whole_with("batch = 32", "batch = 1.5"), "a whole number"},
      {whole_with("batch = 32", "batch = 99999999999999999999"), "case.toml:5"},
      {whole_with("batch = 32", "batch = 32\nbatch = 33"), "case.toml"},
      {whole_with("batch = 32", "bacth = 32"), "did you mean batch"},
      {whole_with("data = 4, seq = 4", "data = 4, seq = 2"), "the slice has 16"},
      {whole_with("data = 4, seq = 4", "data = 4, seq = 4, tensor = 1"), "tensor"},
      {whole_with("hbm_gib = 24.5", "hbm_gib = nan"), "hbm_gib"},
      {whole_with("communication_share = 0.25", "communication_share = 1.25"), "from 0 to 1"},
      {whole_with("share = 0.5", "share = inf"), "share"},
      {whole_with("bound = \"hbm\"", "bound = \"luck\""), "luck"},
      {whole_with("name = \"dot\"\n", ""), "has no name"},
      {whole_with("share = 0.25\nbound", "bound"), "has no share"},
      {whole_with("[[top_ops]]\nname = \"dot\"", "[[top_ops]]\nname = [ 1 ]"), "is a list"},
      {"device = \"tpu-v5p\"\nchips = 8\nprofiled_on = { chips = 8 }\n", "profiled_on has no mesh"},
      {"device = \"tpu-v5p\"\nchips = 8\ntop_ops = 3\n", "top_ops"},
      {"= = =", "case.toml:1"},
      {std::string("device = \"a\0b\"", 14), "case.toml"}};
  for (const auto& [text, what] : wrong) {
    const std::string said = error_of(text);
    EXPECT_NE(said.find(what), std::string::npos) << text << "\nsaid: " << said;
    EXPECT_NE(said.find("case.toml"), std::string::npos) << said;
    EXPECT_EQ(said.find('\x1b'), std::string::npos);
  }
}

TEST(CaseFile, HostileNamesAreBounded) {
  EXPECT_NE(error_of(whole_with("a secret", std::string(600, 'x'))).find("1 to 500 bytes"),
            std::string::npos);
  std::string many = "device = \"tpu-v5p\"\nchips = 8\n";
  for (int i = 0; i < 101; ++i) {
    many += "[[top_ops]]\nname = \"x\"\nshare = 0.001\n";
  }
  EXPECT_NE(error_of(many).find("at most 100"), std::string::npos);
}

TEST(CaseFile, OnAnotherSliceTheMeshIsWhereItWasRecorded) {
  const auto moved = on_topology(made_case(), "4x4x8", "‹on›");
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->chips, 128);
  EXPECT_FALSE(moved->baseline);
  ASSERT_TRUE(moved->profiled);
  EXPECT_EQ(moved->profiled->chips, 64);
  EXPECT_EQ(moved->profiled->mesh, mesh_of(4, 4, 4));
  EXPECT_FALSE(on_topology(made_case(), "4x", "‹on›"));
  EXPECT_FALSE(on_topology(made_case(), "100000x100000x100000", "‹on›"));
}

}  // namespace
}  // namespace sextant::agents
