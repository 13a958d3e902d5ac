// `sextant calibrate` with pasted nccl-tests output, as a user meets it.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

// Two nodes of eight. busbw = bytes / time · 2·15/16 (all-reduce), so 1 GiB in 6.1 ms is 330 GB/s.
constexpr const char* kPasted =
    "# Collective test starting: all_reduce_perf\n"
    "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
    "1048576 262144 float sum -1 135.00 7.77 14.56 0 137.00 7.65 14.35 0\n"
    "16777216 4194304 float sum -1 330.00 50.84 95.33 0 333.00 50.38 94.47 0\n"
    "268435456 67108864 float sum -1 1750.00 153.39 287.61 0 1760.00 152.52 285.98 0\n"
    "1073741824 268435456 float sum -1 6100.00 176.02 330.04 0 6120.00 175.45 328.97 0\n";

TEST(CalibrateCommCli, PastedLinesRefineTheNetwork) {
  const Folder folder;
  const std::string file = folder.write("nccl.txt", kPasted);
  const std::string mine = (folder.path() / "mine").string();
  const Ran ran = run_sextant({"calibrate", file, "--on", "2xdgx-h100", "--write", mine});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* said : {"comm/networks/ib.toml", "all sizes", "simple.tree", "before", "after",
                           "constants stay", "assumed: nccl.txt:3: ranks=16 (because of busbw"}) {
    EXPECT_NE(ran.out.find(said), std::string::npos) << said << "\n" << ran.out;
  }
  for (const std::string& said :
       {"written to " + mine + "/comm/networks/ib.toml", "use them: add --data " + mine,
        std::string("replace the built-in ones for every device")}) {
    EXPECT_NE(ran.err.find(said), std::string::npos) << said << "\n" << ran.err;
  }
  const std::string text = content(folder.path() / "mine/comm/networks/ib.toml");
  EXPECT_TRUE(text.starts_with("# Made by sextant calibrate from 8 timings of nccl.txt on"));
  EXPECT_NE(text.find("sextant calibrate: fitted on 8 timings of nccl.txt, "), std::string::npos);
}

// What was left after the fit is what is off before it where the file is in use.
TEST(CalibrateCommCli, TheWrittenFileIsUsed) {
  const Folder folder;
  const std::string file = folder.write("nccl.txt", kPasted);
  const std::string mine = (folder.path() / "mine").string();
  const std::vector<std::string> asked{"calibrate", file, "--on", "2xdgx-h100", "--json"};
  std::vector<std::string> writing = asked;
  writing.insert(writing.end(), {"--write", mine});
  const Ran first = run_sextant(writing);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_TRUE(first.out.starts_with("{\n  \"schema\": \"sextant.calibrate-comm/2\""));
  std::vector<std::string> using_it = asked;
  using_it.insert(using_it.end(), {"--data", mine});
  const Ran second = run_sextant(using_it);
  ASSERT_EQ(second.exit_code, 0) << second.err;
  const json before = json::parse(first.out)["classes"][0];
  const json after = json::parse(second.out)["classes"][0];
  EXPECT_EQ(before["timings"], 8);
  EXPECT_LT(before["mape_after"], before["mape_before"]);
  EXPECT_EQ(before["mape_after"], after["mape_before"]);
  EXPECT_EQ(before["keys"].size(), 13U);
  EXPECT_EQ(json::parse(first.out)["cluster"], "2xdgx-h100");
}

TEST(CalibrateCommCli, StandardInputIsPasteable) {
  const Ran ran = run_sextant({"calibrate", "-", "--on", "2xdgx-h100"}, kPasted);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("assumed: standard input:3"), std::string::npos) << ran.out;
}

TEST(CalibrateCommCli, MissingAndWrongOptionsAreUsage) {
  const Folder folder;
  const std::string file = folder.write("nccl.txt", kPasted);
  const Ran nowhere = run_sextant({"calibrate", file});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_NE(nowhere.err.find("it is not said where nccl-tests ran (allowed: --on CLUSTER"),
            std::string::npos)
      << nowhere.err;
  const Ran small = run_sextant({"calibrate", file, "--on", "1xdgx-h100"});
  EXPECT_EQ(small.exit_code, 2);
  EXPECT_NE(small.err.find("16 ranks were timed, but 1xdgx-h100 has 8 devices"), std::string::npos)
      << small.err;
}

}  // namespace
}  // namespace sextant::tests
