// What `sextant plan` makes small: memory, energy, devices, cost; and what is free by name only.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plan_cli.h"

namespace sextant::tests {
namespace {

TEST(PlanObjectives, LeastMemoryMayCostAFewPercent) {
  const json fast = answer_of(plan_words({}));
  const json lean = answer_of(plan_words({"--objective", "memory"}));
  const json& winner = lean["plans"][0];
  EXPECT_LT(winner["least_memory_bytes"], fast["plans"][0]["least_memory_bytes"]);
  EXPECT_LE(step_of(winner), step_of(fast["plans"][0]) * 1.05);
}

TEST(PlanObjectives, LeastEnergyTradesTimeForTokensAJoule) {
  const Words more{"--fix", "cp=1,vpp=7,recompute=none", "--top", "64"};
  const Words words{"plan", "llama-3.1-70b", "--on", "64xh100-sxm", "--gbs", "256"};
  const auto with = [&](const Words& extra) {
    Words all = words;
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), extra.begin(), extra.end());
    return answer_of(all);
  };
  const json fast = with({});
  const json lean = with({"--objective", "energy"});
  const auto tokens_per_joule = [](const json& plan) {
    return plan["energy"]["tokens_per_J"].get<double>();
  };
  EXPECT_GT(tokens_per_joule(lean["plans"][0]), tokens_per_joule(fast["plans"][0]));
  EXPECT_GT(step_of(lean["plans"][0]), step_of(fast["plans"][0]));
  for (const json& plan : fast["plans"]) {
    EXPECT_LE(tokens_per_joule(plan), tokens_per_joule(lean["plans"][0]) * (1.0 + 1e-9));
  }
  const double watts = lean["plans"][0]["energy"]["device_W"].get<double>();
  EXPECT_GT(watts, 0.176 * 700.0);
  EXPECT_LT(watts, 700.0);
}

TEST(PlanObjectives, EnergyIsNotGuessedWhereThePowerIsNotPublished) {
  const Ran ran = run_sextant({"plan", "llama-3.1-8b", "--on", "v5p-16", "--framework", "maxtext",
                               "--objective", "energy"});
  EXPECT_EQ(ran.exit_code, 2);
  expect_said(ran.err, {"--objective", "is not known", "power_limit"});
}

TEST(PlanObjectives, AFrontIsOfTimeAndMemory) {
  const Ran ran = run_sextant(plan_words({"--objective", "energy", "--pareto"}));
  EXPECT_EQ(ran.exit_code, 2);
  expect_said(ran.err, {"--pareto", "step or memory"});
}

TEST(PlanObjectives, WhatChangesConvergenceIsFreeByNameOnly) {
  const json plain = answer_of(plan_words({}));
  EXPECT_TRUE(plain["freed"].empty());
  EXPECT_EQ(plain["global_batch"], 64);
  const json freed = answer_of(plan_words({"--free", "precision,gbs"}));
  std::vector<std::string> tried;
  double best = 0.0;
  std::string chosen;
  for (const json& one : freed["freed"]) {
    tried.push_back(one["what"].get<std::string>());
    const double speed = one["tokens_per_s"].get<double>();
    EXPECT_EQ(one["chosen"].get<bool>(), one["what"] == freed["freed"].back()["what"]) << one;
    if (speed > best) {
      best = speed;
      chosen = tried.back();
    }
  }
  // An H100 has units for 8 bits, and none for blocks of 8 or for 4.
  const std::vector<std::string> expected{"precision=bf16,gbs=16",  "precision=bf16,gbs=32",
                                          "precision=bf16,gbs=64",  "precision=bf16,gbs=128",
                                          "precision=bf16,gbs=256", "precision=fp8,gbs=16",
                                          "precision=fp8,gbs=32",   "precision=fp8,gbs=64",
                                          "precision=fp8,gbs=128",  "precision=fp8,gbs=256"};
  for (const std::string& one : expected) {
    EXPECT_NE(std::find(tried.begin(), tried.end(), one), tried.end()) << one;
  }
  EXPECT_EQ(chosen, "precision=fp8,gbs=256");
  const json lengths = answer_of(plan_words({"--free", "gbs,seq"}));
  EXPECT_FALSE(lengths["freed"].empty());
  for (const json& one : lengths["freed"]) {
    const auto what = one["what"].get<std::string>();
    EXPECT_EQ(what.find("gbs="), what.rfind("gbs=")) << what;
    EXPECT_EQ(what.find("seq="), 0U) << what;
  }
  EXPECT_EQ(freed["global_batch"], 256);
  EXPECT_DOUBLE_EQ(freed["plans"][0]["tokens_per_s"].get<double>(), best);
  for (const Words& wrong :
       {Words{"--free", "routing"}, Words{"--free", "gbs", "--objective", "cost"}}) {
    const Ran ran = run_sextant(plan_words(wrong));
    EXPECT_EQ(ran.exit_code, 2);
    expect_said(ran.err, {"--free"});
  }
}

TEST(PlanObjectives, AFrontTradesTimeForMemory) {
  const json answer = answer_of(plan_words({"--pareto"}));
  const json& front = answer["front"];
  ASSERT_GT(front.size(), 1U);
  EXPECT_EQ(front[0]["step_time_s"], answer["plans"][0]["step_time_s"]);
  for (std::size_t i = 1; i < front.size(); ++i) {
    EXPECT_GE(step_of(front[i]), step_of(front[i - 1]));
    EXPECT_LT(front[i]["least_memory_bytes"], front[i - 1]["least_memory_bytes"]);
  }
  EXPECT_LE(step_of(front.back()), step_of(front[0]) * 1.30);
}

// 8.03 B parameters: 2 + 4 + 12 bytes each are 135 GiB, more than one device has.
TEST(PlanObjectives, TheFewestDevicesThatFit) {
  const json answer = answer_of({"plan", "llama-3.1-8b", "--on", "16xh100-sxm", "--gbs", "64",
                                 "--fix", "cp=1,mbs=1", "--objective", "devices"});
  const json& counts = answer["counts"];
  EXPECT_EQ(counts[0]["devices"], 1);
  EXPECT_FALSE(counts[0]["meets"].get<bool>());
  EXPECT_EQ(counts.back()["devices"], 2);
  EXPECT_TRUE(counts.back()["meets"].get<bool>());
  EXPECT_EQ(answer["devices"], 2);
}

TEST(PlanObjectives, ADeadlineAsksForMoreDevices) {
  const Words base{"plan",  "llama-3.1-8b", "--on",     "16xh100-sxm", "--gbs",       "64",
                   "--fix", "cp=1,mbs=1",   "--tokens", "100B",        "--objective", "devices"};
  Words in_time = base;
  in_time.insert(in_time.end(), {"--days", "15"});
  const json answer = answer_of(in_time);
  EXPECT_LE(answer["training"]["time_days"], 15.0);
  EXPECT_GT(answer["devices"], 2);
  const json& counts = answer["counts"];
  EXPECT_GT(counts[counts.size() - 2]["training"]["time_days"], 15.0);
  Words never = base;
  never.insert(never.end(), {"--days", "1"});
  const Ran ran = run_sextant(never);
  EXPECT_EQ(ran.exit_code, 1) << ran.out;
  expect_said(ran.out, {"the deadline of 1 days is missed", "too slow"});
}

// Five nodes divide nothing of eight: they are tried all the same.
TEST(PlanObjectives, TheFewestDevicesAreLookedForNodeByNode) {
  const json answer = answer_of({"plan", "llama-3.1-8b", "--on", "64xh100-sxm", "--gbs", "1920",
                                 "--fix", "cp=1,mbs=1,pp=1,recompute=none", "--tokens", "1T",
                                 "--days", "28", "--objective", "devices"});
  const json& counts = answer["counts"];
  EXPECT_EQ(answer["devices"], counts.back()["devices"]);
  EXPECT_EQ(answer["devices"], 40) << counts;
  EXPECT_TRUE(counts.back()["meets"].get<bool>());
}

TEST(PlanObjectives, AMissedDeadlineIsANo) {
  const json missed = answer_of(plan_words({"--tokens", "15T", "--days", "3"}), 1);
  EXPECT_TRUE(missed["found"].get<bool>());
  EXPECT_EQ(missed["training"]["deadline_days"], 3.0);
  EXPECT_FALSE(missed["training"]["in_time"].get<bool>());
  const json in_time = answer_of(plan_words({"--tokens", "1B", "--days", "3"}));
  EXPECT_TRUE(in_time["training"]["in_time"].get<bool>());
  EXPECT_TRUE(answer_of(plan_words({"--tokens", "1B"}))["training"]["in_time"].is_null());
}

// 40 devices do not divide 64 sequences: 80 they do, and so do 32 of them.
TEST(PlanObjectives, ABatchThatDevicesDoNotDivideIsSaidWithWhatWouldHelp) {
  const json answer = answer_of({"plan", "llama-3.1-8b", "--on", "40xh100-sxm", "--gbs", "64",
                                 "--fix", "cp=1,mbs=1,recompute=none,overlap=grad_reduce"});
  Words said;
  for (const json& shift : answer["shifts"]) {
    said.push_back(shift["what"].get<std::string>());
    EXPECT_EQ(shift["tokens_ratio"] == 1.0, said.back().find("batch of") == std::string::npos);
  }
  for (const char* const one :
       {"a batch of 60", "1 node idle (32 devices)", "one more node (48 devices), a batch of 60"}) {
    EXPECT_NE(std::find(said.begin(), said.end(), one), said.end())
        << one << " of " << answer["shifts"];
  }
}

// Nothing says so, and no search changes it: CUDA graphs.
TEST(PlanObjectives, SwitchesThatNoSearchChangesAreNamedWhereTheyGain) {
  const json answer = answer_of({"plan", "qwen3-30b-a3b", "--on", "8xgb200", "--seq", "8k", "--gbs",
                                 "64", "--fix", "mbs=1,cp=1,tp=1,pp=1"});
  EXPECT_EQ(answer["sequence"], 8192);
  const json& compiled = answer["shifts"][0];
  EXPECT_EQ(compiled["what"], "compile=cuda-graph");
  EXPECT_LT(step_of(compiled), step_of(answer["plans"][0]));
  const json same = json::parse(
      run_sextant({"estimate", "qwen3-30b-a3b", "--on", "8xgb200", "--seq", "8192", "--gbs", "64",
                   "--layout", compiled["layout"].get<std::string>(), "--json"})
          .out);
  EXPECT_DOUBLE_EQ(step_of(same), step_of(compiled));
}

// One device sends nothing, but does not fit; each further one is used less well.
TEST(PlanObjectives, TheCheapestIsAmongTheFewest) {
  const json answer = answer_of({"plan", "llama-3.1-8b", "--on", "16xh100-sxm", "--gbs", "64",
                                 "--fix", "cp=1,mbs=1", "--tokens", "100B", "--objective", "cost"});
  double least = 1e300;
  std::int64_t cheapest = 0;
  for (const json& count : answer["counts"]) {
    if (count["meets"].get<bool>() && count["training"]["device_hours"].get<double>() < least) {
      least = count["training"]["device_hours"].get<double>();
      cheapest = count["devices"].get<std::int64_t>();
    }
  }
  EXPECT_EQ(answer["devices"], cheapest);
  EXPECT_EQ(answer["counts"].back()["devices"], 16);
}

}  // namespace
}  // namespace sextant::tests
