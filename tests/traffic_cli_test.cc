// `sextant traffic` as a user meets it: tables, JSON, files, refusals.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

std::vector<std::string> traffic_words(std::vector<std::string> more = {}) {
  std::vector<std::string> words{"traffic",  "llama-3.1-8b", "--on",  "64xh100-sxm",
                                 "--layout", "tp=4,pp=2",    "--gbs", "64"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(TrafficCli, TheTableNamesMessagesTotalsAndAssumptions) {
  const Ran ran = run_sextant(traffic_words());
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* said : {"attention output", "activations to the next stage", "gradients",
                           "hidden behind", "on the wire", "assumed: seq=4096"}) {
    EXPECT_NE(ran.out.find(said), std::string::npos) << said;
  }
}

TEST(TrafficCli, JsonAddsUp) {
  const Ran ran = run_sextant(traffic_words({"--json"}));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["schema"], "sextant.traffic/2");
  EXPECT_EQ(answer["inputs"].size(), 4U);
  double sent = 0.0;
  for (const json& message : answer["collectives"]) {
    // 32 ranks run each of the two stages.
    sent +=
        message["wire_bytes"].get<double>() * 32.0 * static_cast<double>(message["stages"].size());
  }
  double wire = 0.0;
  for (const json& total : answer["totals"]) {
    wire += total["wire_bytes"].get<double>();
    EXPECT_NEAR(total["same_node_bytes"].get<double>() + total["same_domain_bytes"].get<double>() +
                    total["network_bytes"].get<double>(),
                total["wire_bytes"].get<double>(), 1e-6 * total["wire_bytes"].get<double>());
  }
  EXPECT_NEAR(sent, wire, 1e-6 * wire);
}

TEST(TrafficCli, FilesAreWrittenAndTheSameTwice) {
  const Folder folder;
  const std::string matrix = (folder.path() / "m.csv").string();
  const std::string map = (folder.path() / "m.png").string();
  const std::string pattern = (folder.path() / "p.svg").string();
  const std::vector<std::string> words =
      traffic_words({"--matrix", matrix, "--heat-map", map, "--pattern", pattern, "--by", "node"});
  ASSERT_EQ(run_sextant(words).exit_code, 0);
  const std::string first = content(matrix) + content(map) + content(pattern);
  EXPECT_TRUE(first.starts_with("from,to,axis,bytes\n0,0,tp,"));
  EXPECT_TRUE(content(map).starts_with("\x89PNG"));
  EXPECT_TRUE(content(pattern).starts_with("<svg"));
  ASSERT_EQ(run_sextant(words).exit_code, 0);
  EXPECT_EQ(content(matrix) + content(map) + content(pattern), first);
}

TEST(TrafficCli, AnIllegalLayoutIsTheAnswerNo) {
  const Ran ran =
      run_sextant({"traffic", "llama-3.1-8b", "--on", "64xh100-sxm", "--layout", "tp=3"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE((ran.out + ran.err).find("HEADS-TP"), std::string::npos);
}

TEST(TrafficCli, BadUsageExitsWithTwo) {
  EXPECT_EQ(run_sextant({"traffic", "llama-3.1-8b"}).exit_code, 2);
  EXPECT_EQ(run_sextant(traffic_words({"--by", "rack"})).exit_code, 2);
  const Ran ran = run_sextant(traffic_words({"--heat-map", "/tmp/map.gif"}));
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find(".svg or .png"), std::string::npos);
  EXPECT_EQ(run_sextant(traffic_words({"--matrix", "/no/such/folder/m.csv"})).exit_code, 3);
}

}  // namespace
}  // namespace sextant::tests
