// `sextant estimate --collective` as a user meets it: one answer, sweeps, plots, refusals.
#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/places_testing.h"
#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

std::vector<std::string> collective_words(std::vector<std::string> more = {},
                                          const std::string& cluster = "4xdgx-h100") {
  std::vector<std::string> words{"estimate", "--collective", "all_reduce", "--on", cluster};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(CollectiveCli, TheTableSaysTimeBandwidthAndWay) {
  const Ran ran = run_sextant(collective_words({"--bytes", "1GiB"}));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* said :
       {"all_reduce of 1 GiB over 32 ranks in 4 domains of 4xdgx-h100", "bus bandwidth",
        "algorithm bandwidth", "limited by network", "latency", "transfer", "fill", "ring", "tree",
        "in three parts", "assumed: ranks=32 (not given: all devices)"}) {
    EXPECT_NE(ran.out.find(said), std::string::npos) << said << "\n" << ran.out;
  }
  EXPECT_EQ(ran.out.find("fitted on"), std::string::npos);
  const Ran verbose = run_sextant(collective_words({"--verbose"}));
  EXPECT_NE(verbose.out.find("fitted on"), std::string::npos);
  EXPECT_NE(verbose.out.find("comm/networks/ib.toml"), std::string::npos);
}

TEST(CollectiveCli, JsonAddsUpAndNamesItsSources) {
  const Ran ran = run_sextant(collective_words({"--bytes", "64MiB", "--json"}));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("{\n  \"schema\": \"sextant.estimate-collective/2\""));
  const json answer = json::parse(ran.out);
  const json& best = answer["ways"][0];
  const auto time = answer["time_s"].get<double>();
  EXPECT_NEAR((best["latency_s"].get<double>() + best["transfer_s"].get<double>() +
               best["fill_s"].get<double>()) /
                  time,
              1.0, 1e-9);
  EXPECT_EQ(best["time_s"], answer["time_s"]);
  // 2 · 31 / 32 of the bytes pass every device.
  EXPECT_NEAR(answer["bus_bandwidth_GBps"].get<double>(),
              64.0 * 1024 * 1024 * 2.0 * 31.0 / 32.0 / time * 1e-9, 1e-6);
  EXPECT_NEAR(answer["time_high_s"].get<double>() / time, answer["spread"].get<double>(), 1e-9);
  EXPECT_EQ(answer["domains"], 4);
  EXPECT_EQ(answer["ranks_per_domain"], 8);
  EXPECT_EQ(answer["inputs"].size(), 6U);      // device, system, fabric, links, network, spread
  EXPECT_EQ(answer["constants"].size(), 45U);  // the links' rate, 31 of links, 13 of networks
  for (const json& constant : answer["constants"]) {
    EXPECT_FALSE(constant["source"].get<std::string>().empty());
  }
}

TEST(CollectiveCli, AStrideSpreadsTheGroup) {
  const json answer = json::parse(run_sextant(collective_words({"--stride", "8", "--json"})).out);
  EXPECT_EQ(answer["ranks"], 4);
  EXPECT_EQ(answer["domains"], 4);
  EXPECT_EQ(answer["ranks_per_domain"], 1);
  EXPECT_TRUE(answer["hierarchical"].is_null());
}

TEST(CollectiveCli, LargerMessagesNeverTakeLess) {
  const Ran ran = run_sextant(collective_words({"--sweep", "bytes", "--json"}));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["schema"], "sextant.estimate-collective-sweep/2");
  ASSERT_EQ(answer["points"].size(), 25U);  // 1 KiB to 16 GiB
  double last = 0.0;
  for (const json& point : answer["points"]) {
    EXPECT_GE(point["time_s"].get<double>(), last);
    EXPECT_LE(point["share_of_best_rate"].get<double>(), 1.0);
    last = point["time_s"].get<double>();
  }
  const json alone = json::parse(run_sextant(collective_words({"--bytes", "1KiB", "--json"})).out);
  EXPECT_EQ(answer["points"][0]["time_s"], alone["time_s"]);
}

TEST(CollectiveCli, EveryFactorHasATableAndAPlot) {
  const Folder folder;
  for (const char* factor : {"bytes", "ranks", "nodes", "collective", "link", "nic"}) {
    const std::string file = (folder.path() / (std::string(factor) + ".svg")).string();
    const std::vector<std::string> words = collective_words({"--sweep", factor, "--plot", file});
    const Ran ran = run_sextant(words);
    ASSERT_EQ(ran.exit_code, 0) << factor << ran.err;
    EXPECT_NE(ran.out.find(std::string(factor) + " varied"), std::string::npos) << ran.out;
    EXPECT_NE(ran.err.find("plot written to"), std::string::npos);
    const std::string first = content(file);
    EXPECT_TRUE(first.starts_with("<svg")) << factor;
    ASSERT_EQ(run_sextant(words).exit_code, 0);
    EXPECT_EQ(content(file), first) << factor;
  }
  EXPECT_TRUE(
      run_sextant(collective_words({"--sweep", "ranks=2", "-o", "csv"})).out.starts_with("ranks,"));
}

TEST(CollectiveCli, WhatTheClusterHasNoRoomForIsShownWithItsReason) {
  const Ran some = run_sextant(collective_words({"--sweep", "nodes=4,8"}));
  EXPECT_EQ(some.exit_code, 0);
  EXPECT_NE(some.out.find("not possible: 64 ranks of 4xdgx-h100, which has 32 devices"),
            std::string::npos)
      << some.out;
  EXPECT_EQ(run_sextant(collective_words({"--sweep", "nodes=8"})).exit_code, 1);
}

TEST(CollectiveCli, MeasuredRunsAreDrawnBesideTheLine) {
  const Folder folder;
  const std::string table = folder.write(
      "t.csv",
      "id,source,hardware,gpus_per_node,nodes,ranks,intra_link,inter_link,collective,bytes,time_us,"
      "algbw_GBps,busbw_GBps,in_place,nccl_version,notes\n"
      "mine#1,lab,HGX H100 8-GPU,8,1,8,NVLink4+NVSwitch 450GB/s/GPU uni,,all_reduce,1048576,46,,,0,"
      ",\n"
      "mine#2,lab,HGX H100 8-GPU,8,1,8,NVLink4+NVSwitch 450GB/s/GPU uni,,all_reduce,16777216,90,,,0"
      ",,\n"
      "other#1,lab,HGX H100 8-GPU,8,1,4,NVLink4+NVSwitch 450GB/s/GPU uni,,all_reduce,1048576,46,,,"
      "0,,\n");
  const std::string plot = (folder.path() / "b.svg").string();
  const Ran ran = run_sextant(
      collective_words({"--sweep", "bytes", "--measured", table, "--plot", plot}, "8xh100-sxm"));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("39.89"), std::string::npos) << ran.out;  // 1 MiB · 1.75 / 46 us
  EXPECT_NE(ran.out.find("measured: mine, "), std::string::npos);
  EXPECT_EQ(ran.out.find("measured: other"), std::string::npos);
  EXPECT_NE(content(plot).find(">mine</text>"), std::string::npos);
  const Ran none = run_sextant(collective_words({"--sweep", "bytes", "--measured", table}));
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_NE(none.err.find("no row of"), std::string::npos) << none.err;
}

TEST(CollectiveCli, MeasuredTablesOfTheProjectHaveRunsToShow) {
  const std::filesystem::path table = shared_folder() / "truth/comm/collectives.csv";
  if (!std::filesystem::exists(table)) {
    GTEST_SKIP() << "no " << table;
  }
  const Ran ran = run_sextant(
      collective_words({"--sweep", "bytes", "--measured", table.string(), "--json"}, "8xh100-sxm"));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_GE(json::parse(ran.out)["measured"].size(), 2U);
}

TEST(CollectiveCli, WhatIsNotKnownIsRefusedWithTheReason) {
  const Ran links = run_sextant(collective_words({}, "8xrtx-4090"));
  EXPECT_EQ(links.exit_code, 0) << links.err;
  EXPECT_NE(links.out.find("links of rtx-4090 over pcie were never measured"), std::string::npos)
      << links.out;
  const Ran slices = run_sextant(collective_words({}, "2xv5p-128"));
  EXPECT_EQ(slices.exit_code, 2);
  EXPECT_NE(slices.err.find("between slices are not modelled"), std::string::npos);
  EXPECT_EQ(run_sextant(collective_words({}, "v5p-128")).exit_code, 0);
}

TEST(CollectiveCli, AModelOrACollective) {
  const Ran neither = run_sextant({"estimate", "--on", "8xh100-sxm"});
  EXPECT_EQ(neither.exit_code, 2);
  EXPECT_EQ(neither.err,
            "sextant: error: sextant estimate: MODEL is missing (allowed: a MODEL, or --collective "
            "OPERATION)\n");
  const Ran both =
      run_sextant({"estimate", "llama-3.1-8b", "--collective", "all_reduce", "--on", "8xh100-sxm"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_EQ(both.err,
            "sextant: error: sextant estimate: MODEL and --collective were both given (allowed: a "
            "MODEL, or --collective OPERATION)\n");
}

TEST(CollectiveCli, BadWordsSayWhatIsAllowed) {
  const auto error = [](const std::vector<std::string>& words) {
    const Ran ran = run_sextant(words);
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.out, "");
    return ran.err;
  };
  EXPECT_NE(error({"estimate", "--collective", "gather", "--on", "8xh100-sxm"})
                .find("--collective: 'gather' is not a known collective"),
            std::string::npos);
  EXPECT_NE(error({"estimate", "--collective", "all_reduce"}).find("--on"), std::string::npos);
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--ranks", "0"},
        {"--ranks", "33"},
        {"--stride", "x"},
        {"--bytes", "-1B"},
        {"--bytes", "1"},
        {"--layout", "tp=2"},
        {"--plot", "p.svg"},
        {"--measured", "t.csv"},
        {"--sweep", "mbs"},
        {"--sweep", "bytes", "--bytes", "1MiB"},
        {"--sweep", "nodes", "--ranks", "8"},
        {"--sweep", "ranks", "--measured", "t.csv"},
        {"--sweep", "bytes", "--plot", "p.gif"},
        {"--sweep", "bytes", "--measured", "/no/such/table.csv"}}) {
    EXPECT_FALSE(error(collective_words(more)).empty()) << more[0];
  }
  EXPECT_NE(error({"estimate", "gpt2", "--on", "1xh200-sxm", "--bytes", "1MiB"})
                .find("it goes with --collective"),
            std::string::npos);
}

TEST(CollectiveCli, HugeNumbersAreAnsweredAtOnce) {
  const Ran ran = run_sextant(collective_words({"--bytes", "1024TiB", "--stride", "10000000"}));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("nothing is sent"), std::string::npos);
  EXPECT_EQ(run_sextant(collective_words({"--sweep", "nodes=10000000"})).exit_code, 1);
  EXPECT_EQ(run_sextant(collective_words({"--bytes", "1024TiB"}, "10000000xh100-sxm")).exit_code,
            0);
}

}  // namespace
}  // namespace sextant::tests
