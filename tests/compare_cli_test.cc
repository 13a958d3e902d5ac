// `sextant compare` as a user meets it: candidates side by side, reasons, the winner, refusals.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

std::vector<std::string> compare_words(std::vector<std::string> more) {
  std::vector<std::string> words{"compare", "llama-3.1-70b", "--on", "64xh100-sxm"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(CompareCli, LayoutsStandSideBySideWithTheirTerms) {
  const Ran ran = run_sextant(compare_words(
      {"--layout", "tp=8,pp=4", "--layout", "tp=4,pp=8", "--layout", "tp=3", "--layout", "tp=2"}));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* said :
       {"A  tp=8,pp=4", "B  tp=4,pp=8", "C  tp=3", "not possible: ", "HEADS-TP: tp=3", "D  tp=2",
        "does not fit: pipeline rank 0", "80 % interval", "speed against the first",
        "communication overhead", "exposed tp", "bubble", "memory", " is the fastest, ",
        "shrinks most", "80 % interval of it", "the 80 % interval of the difference is ",
        "assumed: gbs="}) {
    EXPECT_NE(ran.out.find(said), std::string::npos) << said << "\n" << ran.out;
  }
}

TEST(CompareCli, JsonHasEveryCandidateAndTheEstimatesOwnNumbers) {
  const std::vector<std::string> words =
      compare_words({"--gbs", "128", "--layout", "tp=8,pp=4", "--layout", "tp=4,pp=8", "--layout",
                     "tp=3", "--json"});
  const json answer = json::parse(run_sextant(words).out);
  EXPECT_EQ(answer["schema"], "sextant.compare/2");
  ASSERT_EQ(answer["candidates"].size(), 3U);
  EXPECT_FALSE(answer["candidates"][2]["possible"].get<bool>());
  EXPECT_FALSE(answer["candidates"][2]["reasons"].empty());
  EXPECT_DOUBLE_EQ(answer["candidates"][0]["speed_ratio"].get<double>(), 1.0);
  const json alone = json::parse(run_sextant({"estimate", "llama-3.1-70b", "--on", "64xh100-sxm",
                                              "--gbs", "128", "--layout", "tp=4,pp=8", "--json"})
                                     .out);
  EXPECT_EQ(answer["candidates"][1]["step_time_s"], alone["step_time_s"]);
  EXPECT_EQ(answer["candidates"][1]["terms"], alone["terms"]);
  EXPECT_EQ(answer["candidates"][1]["memory"], alone["memory"]);
  const auto best = answer["best"].get<std::size_t>();
  const auto other = answer["advantage"]["against"].get<std::size_t>();
  EXPECT_NE(best, other);
  EXPECT_LT(answer["candidates"][best]["step_time_s"], answer["candidates"][other]["step_time_s"]);
  const std::string key = answer["advantage"]["term"].get<std::string>() + "_s";
  EXPECT_NEAR(answer["candidates"][other]["terms"][key].get<double>() -
                  answer["candidates"][best]["terms"][key].get<double>(),
              answer["advantage"]["shorter_s"].get<double>(), 1e-9);
}

// Of the first against itself, and of the second against the first.
TEST(CompareCli, TheDifferenceHasAnIntervalOfItsOwn) {
  const json answer =
      json::parse(run_sextant(compare_words({"--gbs", "128", "--layout", "tp=8,pp=4", "--layout",
                                             "tp=4,pp=8", "--json"}))
                      .out);
  const json& first = answer["candidates"][0]["difference"];
  EXPECT_EQ(first["interval"], json({1.0, 1.0}));  // against itself
  EXPECT_EQ(first["verdict"], "cannot be told");
  EXPECT_TRUE(first["class"].is_null());
  const json& second = answer["candidates"][1]["difference"];
  EXPECT_EQ(second["class"], "mesh");
  const double ratio = second["speed_ratio"].get<double>();
  EXPECT_NEAR(ratio, answer["candidates"][1]["speed_ratio"].get<double>(), 1e-12);
  const double low = second["interval"][0].get<double>();
  const double high = second["interval"][1].get<double>();
  EXPECT_LT(low, ratio);
  EXPECT_GT(high, ratio);
  EXPECT_EQ(second["verdict"] == "cannot be told", low <= 1.0 && 1.0 <= high);
}

// Steps of different batches do not compare.
TEST(CompareCli, WithoutABatchAllTakeTheSame) {
  const json answer = json::parse(
      run_sextant(compare_words({"--layout", "tp=8,pp=4", "--layout", "tp=8,mbs=3,recompute=full",
                                 "--layout", "tp=4,pp=8", "--json"}))
          .out);
  const json& first = answer["candidates"][0]["tokens_per_step"];
  for (const json& candidate : answer["candidates"]) {
    EXPECT_TRUE(candidate["possible"].get<bool>()) << candidate;
    EXPECT_EQ(candidate["tokens_per_step"], first);
  }
}

TEST(CompareCli, ClustersCompareUnderOneLayout) {
  const Ran ran = run_sextant({"compare", "--on", "8xh100-sxm", "--on", "8xh200-sxm", "--on",
                               "4xrtx-4090", "llama-3.1-8b", "--layout", "tp=2"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("B  8xh200-sxm"), std::string::npos);
  EXPECT_NE(ran.out.find("B is the fastest"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("links of rtx-4090"), std::string::npos) << ran.out;
}

TEST(CompareCli, NothingThatRunsIsANo) {
  const Ran ran = run_sextant(compare_words({"--layout", "tp=3", "--layout", "tp=2"}));
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.out.find("none of them can run"), std::string::npos) << ran.out;
}

TEST(CompareCli, BadWordsSayWhatIsAllowed) {
  const Ran one = run_sextant(compare_words({"--layout", "tp=8"}));
  EXPECT_EQ(one.exit_code, 2);
  EXPECT_EQ(one.err,
            "sextant: error: sextant compare: there is nothing to compare (allowed: two or more "
            "--layout LAYOUT, or two or more --on CLUSTER)\n");
  const Ran unknown = run_sextant(compare_words({"--layout", "tp=8", "--layout", "tq=8"}));
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("tq"), std::string::npos) << unknown.err;
  EXPECT_EQ(
      run_sextant(compare_words({"--layout", "tp=8", "--layout", "tp=4", "--on", "8xh100-sxm"}))
          .exit_code,
      2);
  EXPECT_EQ(run_sextant({"compare", "gpt2", "--layout", "tp=1", "--layout", "tp=2"}).exit_code, 2);
}

}  // namespace
}  // namespace sextant::tests
