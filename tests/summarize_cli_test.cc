// `sextant summarize`: what is joined of summaries is what the profiles say.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "made_traces.h"
#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

// Without what says where it was read from.
json diagnosed_numbers(std::vector<std::string> words) {
  words.insert(words.begin(), "diagnose");
  words.emplace_back("--json");
  const Ran ran = run_sextant(words);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  json answer = ran.exit_code == 0 ? json::parse(ran.out) : json();
  answer.erase("files");
  answer.erase("inputs");
  return answer;
}

class SummarizeCli : public testing::Test {
 protected:
  std::string profile(int rank) {
    return folder_.write("in/rank" + std::to_string(rank) + ".json",
                         made_trace({.rank = rank, .world = 4, .late_us = rank * 300}));
  }
  std::string out(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string in() const { return (folder_.path() / "in").string(); }
  static void summarize(std::vector<std::string> words) {
    words.insert(words.begin(), "summarize");
    const Ran ran = run_sextant(words);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
  }

  Folder folder_;
};

TEST_F(SummarizeCli, SummariesJoinedAreTheWhole) {
  for (int rank = 0; rank < 4; ++rank) {
    summarize({profile(rank), "--out", out(std::to_string(rank) + ".sxs")});
  }
  const json whole = diagnosed_numbers({in()});
  EXPECT_EQ(whole["ranks"], 4);
  EXPECT_EQ(diagnosed_numbers({out("*.sxs")}), whole);
  EXPECT_EQ(
      diagnosed_numbers({in() + "/rank0.json", out("1.sxs"), in() + "/rank2.json", out("3.sxs")}),
      whole);
  summarize({out("[0-3].sxs"), "--out", out("job.sxs")});
  EXPECT_EQ(diagnosed_numbers({out("job.sxs")}), whole);
  // In two steps and another order: the same bytes.
  summarize({out("3.sxs"), out("1.sxs"), "--out", out("odd.sxs")});
  summarize({out("0.sxs"), out("odd.sxs"), out("2.sxs"), "--out", out("again.sxs")});
  EXPECT_EQ(content(out("again.sxs")), content(out("job.sxs")));
}

TEST_F(SummarizeCli, ItIsSmallAndLiesBesideTheProfile) {
  const std::string file = profile(0);
  summarize({file});
  const std::string summary = in() + "/rank0.sxs";
  EXPECT_LT(content(summary).size(), 300'000U);
  EXPECT_FALSE(content(summary).empty());
  // Beside its profile it is not read once more.
  const Ran ran = run_sextant({"diagnose", in()});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.err.find("the profile is read"), std::string::npos) << ran.err;
}

TEST_F(SummarizeCli, ARankIsInOneSummaryOnly) {
  summarize({profile(0), "--out", out("a.sxs")});
  summarize({profile(0), "--out", out("b.sxs")});
  const Ran ran = run_sextant({"diagnose", out("a.sxs"), out("b.sxs")});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("rank 0 is in"), std::string::npos) << ran.err;
  EXPECT_EQ(diagnosed_numbers({out("a.sxs"), "1=" + out("b.sxs")})["ranks"], 2);
}

TEST_F(SummarizeCli, WhatASummaryDoesNotHoldIsRefused) {
  summarize({profile(0), "--out", out("a.sxs")});
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--steps", "4"}, std::vector<std::string>{"--hta-compatible"}}) {
    std::vector<std::string> words{"diagnose", out("a.sxs")};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run_sextant(words);
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_NE(ran.err.find("is a summary"), std::string::npos) << ran.err;
  }
  const std::string bytes = content(out("a.sxs"));
  const Ran cut =
      run_sextant({"diagnose", folder_.write("cut.sxs", bytes.substr(0, bytes.size() / 2))});
  EXPECT_EQ(cut.exit_code, 2);
}

}  // namespace
}  // namespace sextant::tests
