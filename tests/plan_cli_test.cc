// `sextant plan` as a user meets it: the winner, what is fixed, why not, no plan,
// changes to one's own job, files and pictures.
#include "plan_cli.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/places_testing.h"
#include "run_program.h"

namespace sextant::tests {
namespace {

TEST(PlanCli, TheAnswerSaysWhatWinsWhyAndHowItWasFound) {
  const Ran ran = run_sextant(plan_words({"--tokens", "1T", "--price", "2.5"}));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");  // progress is for terminals
  expect_said(ran.out, {"plan  ",
                        "step  ",
                        "MFU",
                        "of 75.67 GiB (79.65 GiB less 5 % headroom)",
                        "days",
                        "cost",
                        "what bounds it",
                        "compute",
                        "what would move the fastest",
                        "in words",
                        "gives up",
                        "scale-up links x 2",
                        "memory bandwidth + 20 %",
                        "one more node",
                        "against the first",
                        "against 1: ",
                        "the interval of the difference",
                        "legal layouts in",
                        "left out",
                        "assumed: "});
}

TEST(PlanCli, AMeshOfJaxIsNamedAndSaysWhoCrossesSlices) {
  const Words words{"plan", "llama-3.1-8b", "--on",  "2xv6e-16",    "--gbs",
                    "64",   "--fix",        "mbs=1", "--framework", "maxtext"};
  const json answer = answer_of(words);
  const std::string mesh = answer["plans"][0]["mesh"];
  EXPECT_EQ(mesh.find("ici:"), 0U) << mesh;
  EXPECT_NE(mesh.find(";dcn:"), std::string::npos) << mesh;
  const Ran ran = run_sextant(words);
  expect_said(ran.out, {"JAX mesh   " + answer["recommended"]["mesh"].get<std::string>()});
  EXPECT_TRUE(answer_of(plan_words({}))["plans"][0]["mesh"].is_null());
}

TEST(PlanCli, NoLayoutThatUsersTryIsFasterAndTheWordsBringThePlanBack) {
  const json answer = answer_of(plan_words({}));
  EXPECT_EQ(answer["schema"], "sextant.plan/3");
  const json& best = answer["plans"][0];
  const json same = estimate_of(best["layout"].get<std::string>());
  EXPECT_EQ(same["step_time_s"], best["step_time_s"]);
  EXPECT_EQ(same["terms"], best["terms"]);
  EXPECT_EQ(same["memory"], best["memory"]);
  for (const char* layout :
       {"tp=8", "tp=4", "tp=2", "pp=2", "tp=2,pp=2", "tp=4,pp=2", "pp=4", "tp=2,recompute=full",
        "tp=2,pp=2,vpp=2", "tp=4,recompute=selective"}) {
    const json other = estimate_of(layout);
    if (other["fits"].get<bool>()) {
      EXPECT_GE(step_of(other), step_of(best)) << layout;
    }
  }
  for (std::size_t i = 1; i < answer["plans"].size(); ++i) {
    EXPECT_GE(step_of(answer["plans"][i]), step_of(answer["plans"][i - 1]));
    EXPECT_LE(answer["plans"][i]["least_memory_bytes"], answer["limit_bytes"]);
  }
  const json& search = answer["search"];
  EXPECT_TRUE(search["complete"].get<bool>());
  EXPECT_DOUBLE_EQ(search["possible"].get<double>(),
                   search["timed"].get<double>() + search["too_slow"].get<double>() +
                       search["hides_less"].get<double>() + search["too_large"].get<double>());
}

// The fastest of this job deals 32 layers to 12 uneven stages for little over plain tp=2, which
// reserves 77.7 GiB: within a headroom of 1 %, not of 5.
TEST(PlanCli, TheSimplestThatIsAsGoodComesFirstAndSaysWhatItGivesUp) {
  const Words words{"plan", "llama-3.1-8b", "--on", "8xh100-sxm", "--headroom",
                    "1%",   "--gbs",        "64",   "--fix",      "cp=1,zero_group=0"};
  const json answer = answer_of(words);
  const json& plan = answer["recommended"];
  const json& fastest = answer["plans"][0];
  EXPECT_EQ(plan["why"], "simpler");
  EXPECT_TRUE(fastest["keys"]["layers_per_stage"].is_array()) << fastest["keys"];
  EXPECT_EQ(plan["points"]["uneven_stages"], 0);
  EXPECT_LT(plan["points"]["total"], answer["recommended"]["fastest_points"]["total"]);
  EXPECT_GT(plan["given_up"], 0.0);
  EXPECT_LE(plan["given_up"], 0.02);
  EXPECT_NEAR(step_of(plan) - step_of(fastest), plan["longer_s"].get<double>(), 1e-12);
  EXPECT_LT(plan["difference"]["interval"][0], 1.0);
  EXPECT_GT(plan["difference"]["interval"][1], 1.0);
  EXPECT_EQ(estimate_of(plan["layout"].get<std::string>())["step_time_s"], plan["step_time_s"]);
  const Ran ran = run_sextant(words);
  expect_said(ran.out, {"plan       " + plan["layout"].get<std::string>() + "\n", "gives up ",
                        "cannot be told apart", "fastest    ", "tp 2 · dp 4 · "});
}

TEST(PlanCli, TheAnswerIsTheSameOnAnyNumberOfThreads) {
  json one = answer_of(plan_words({"--threads", "1"}));
  json three = answer_of(plan_words({"--threads", "3"}));
  for (json* answer : {&one, &three}) {
    (*answer)["search"].erase("time_s");
  }
  EXPECT_EQ(one, three);
}

TEST(PlanCli, FixedKeysKeepTheirValues) {
  const json answer = answer_of(plan_words({}, "cp=1,mbs=2,tp=4,recompute=full"));
  ASSERT_FALSE(answer["plans"].empty());
  for (const json& plan : answer["plans"]) {
    EXPECT_EQ(plan["tp"], 4);
    EXPECT_EQ(plan["mbs"], 2);
    EXPECT_NE(plan["layout"].get<std::string>().find("recompute=full"), std::string::npos);
  }
  EXPECT_EQ(answer["fixed"], json({"cp", "mbs", "tp", "recompute"}));
}

TEST(PlanCli, ContradictoryFixesAreNamed) {
  const Ran rule = run_sextant(plan_words({}, "tp=3"));
  EXPECT_EQ(rule.exit_code, 1);
  expect_said(rule.out, {"no layout can run", "HEADS-TP", "freed alone, there are layouts: tp=3"});
  // 8 * 4 ranks on 8 devices: either of them is too much.
  const json both = answer_of(plan_words({}, "tp=8,pp=4"), 1);
  EXPECT_FALSE(both["found"].get<bool>());
  EXPECT_EQ(both["none"]["freed"], json({"tp=8", "pp=4"}));
}

// 70.6 B parameters with 18 bytes each are 1,183 GiB, 74 GiB on each of 16 devices before any
// activation: of 75.67 GiB that leaves too little, 32 devices have enough.
TEST(PlanCli, WhatDoesNotFitSaysWhatIsMissingAndWhatWouldHelp) {
  const Words words{"plan", "llama-3.1-70b", "--on", "8xh100-sxm", "--gbs", "64"};
  const Ran ran = run_sextant(words);
  EXPECT_EQ(ran.exit_code, 1);
  expect_said(ran.out, {"no layout can run", "memory is short", " missing", "the nearest that fits",
                        "32 devices: "});
  const json answer = answer_of(words, 1);
  EXPECT_GT(answer["none"]["missing_bytes"].get<double>(), 0.0);
}

TEST(PlanCli, HeadroomIsKeptFree) {
  const json answer = answer_of(plan_words({"--headroom", "40%"}));
  const auto limit = answer["limit_bytes"].get<double>();
  EXPECT_NEAR(limit, 79.65 * 0.6 * 1024 * 1024 * 1024, 0.01 * limit);
  for (const json& plan : answer["plans"]) {
    EXPECT_LE(plan["least_memory_bytes"].get<double>(), limit);
  }
}

TEST(PlanCli, WhyNotNamesTheRule) {
  const Ran ran = run_sextant(plan_words({"--why-not", "tp=3"}));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  expect_said(ran.out, {"why not tp=3", "not legal", "HEADS-TP"});
}

TEST(PlanCli, WhyNotNamesTheMissingMemory) {
  const Ran ran = run_sextant(plan_words({"--why-not", "zero=0,overlap=grad_reduce"}));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  expect_said(ran.out, {"does not fit", " missing"});
}

TEST(PlanCli, WhyNotNamesWhatWasFixedOtherwise) {
  const Ran ran = run_sextant(plan_words({"--why-not", "tp=4,mbs=2"}));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  expect_said(ran.out, {"not searched: mbs=2, but mbs=1 is fixed"});
}

TEST(PlanCli, WhyNotTermsAddUpToTheDifference) {
  const json answer = answer_of(plan_words({"--why-not", "tp=8"}));
  const json& why = answer["why_not"];
  double sum = 0.0;
  for (const auto& [term, longer] : why["longer"].items()) {
    sum += longer.get<double>();
  }
  EXPECT_GT(sum, 0.0);
  EXPECT_NEAR(sum, step_of(why["step"]) - step_of(answer["plans"][0]), 1e-9);
  EXPECT_TRUE(why["outside"].empty()) << why;
}

std::string own_script(const std::string& flags) {
  return "#!/bin/bash\n"
         "export CUDA_DEVICE_MAX_CONNECTIONS=1\n"
         "torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py \\\n"
         "  --sequence-parallel --use-distributed-optimizer --bf16 \\\n"
         "  --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 \\\n"
         "  --num-attention-heads 32 --group-query-attention --num-query-groups 8 \\\n"
         "  --swiglu --normalization RMSNorm --disable-bias-linear \\\n"
         "  --position-embedding-type rope --untie-embeddings-and-output-weights \\\n"
         "  --tokenizer-type NullTokenizer --vocab-size 128255 \\\n"
         "  --seq-length 4096 --max-position-embeddings 131072 --global-batch-size 64 \\\n"
         "  " +
         flags + "\n";
}

TEST(PlanCli, OnesOwnJobGetsTheChangesWorthMaking) {
  const Folder folder;
  const std::string script =
      folder.write("train.sh", own_script("--tensor-model-parallel-size 8 --micro-batch-size 1 "
                                          "--recompute-granularity full --recompute-method uniform "
                                          "--recompute-num-layers 1"));
  const json answer =
      answer_of({"plan", "--from", script, "--on", "h100-sxm", "--fix", "cp=1", "--threads", "2"});
  const json& changes = answer["changes"];
  ASSERT_FALSE(changes["changes"].empty()) << changes;
  double before = step_of(changes["before"]);
  for (const json& change : changes["changes"]) {
    EXPECT_GE(change["gain"].get<double>(), 0.005);
    EXPECT_NEAR(before - change["gain_s"].get<double>(), step_of(change), 1e-9);
    before = step_of(change);
  }
  EXPECT_DOUBLE_EQ(step_of(changes["after"]), before);
  EXPECT_GE(before, step_of(answer["plans"][0]) * (1.0 - 1e-12));
  EXPECT_LE(before, step_of(answer["plans"][0]) * 1.05);
  EXPECT_TRUE(changes["measured_step_time_s"].is_null());
  EXPECT_EQ(changes["scale"], 1.0);
  const Ran ran = run_sextant({"plan", "--from", script, "--on", "h100-sxm", "--fix", "cp=1"});
  expect_said(ran.out, {"now  ", "change", "gain", "all of them", "gives ",
                        "in your own settings:", "--tensor-model-parallel-size 2"});
}

// The log's steps take 3.41 s. What is predicted of changes is scaled by what it is off.
TEST(PlanCli, ALogAnchorsTheChangesOnWhatWasMeasured) {
  const Words words{
      "plan",     "--from",   source_folder().string() + "/tests/data/logs/megatron.log",
      "--on",     "h100-sxm", "--fix",
      "cp=1,pp=2"};
  const json changes = answer_of(words)["changes"];
  const auto measured = changes["measured_step_time_s"].get<double>();
  EXPECT_NEAR(measured, 3.406, 0.001);
  EXPECT_DOUBLE_EQ(changes["scale"].get<double>(), measured / step_of(changes["before"]));
  const json& first = changes["changes"][0];
  EXPECT_NEAR(step_of(first) + first["gain_s"].get<double>(), measured, 1e-9);
  EXPECT_NEAR(step_of(changes["changes"].back()),
              changes["scale"].get<double>() * step_of(changes["after"]), 1e-9);
  EXPECT_NE(first["settings"].get<std::string>().find("--"), std::string::npos) << first;
  expect_said(run_sextant(words).out, {"measured 3.406 s", "as the log says"});
}

// One batch for every command where none is stated: the plan's layout asked alone is the plan.
TEST(PlanCli, ALayoutAskedAloneHasThePlansBatch) {
  const json answer = answer_of(
      {"plan", "llama-3.1-8b", "--on", "8xh100-sxm", "--fix", "cp=1,mbs=1,recompute=none"});
  const json& plan = answer["recommended"];
  const json alone =
      json::parse(run_sextant({"estimate", "llama-3.1-8b", "--on", "8xh100-sxm", "--layout",
                               plan["layout"].get<std::string>(), "--json"})
                      .out);
  EXPECT_EQ(alone["step_time_s"], plan["step_time_s"]);
}

// V100 has no bf16.
TEST(PlanCli, AnOldDeviceIsPlannedInTheFormatItHas) {
  const json answer = answer_of({"plan", "gpt2", "--on", "8xv100-sxm-32g", "--gbs", "64", "--fix",
                                 "cp=1,mbs=1,recompute=none"});
  EXPECT_EQ(answer["recommended"]["keys"]["precision"], "fp16");
  EXPECT_EQ(answer["recommended"]["keys"]["parameters"], "fp16");
}

// Who sends contexts says nothing where there are none.
TEST(PlanCli, WhyNotTakesWhatDoesNothingAsSaid) {
  const json answer =
      answer_of({"plan", "llama-3.1-8b", "--on", "8xh100-sxm", "--framework", "torchtitan", "--seq",
                 "8192", "--gbs", "16", "--fix", "mbs=1,tp=1,pp=1", "--why-not", "zero=3,mbs=1"});
  EXPECT_TRUE(answer["why_not"]["outside"].empty()) << answer["why_not"];
  EXPECT_GT(step_of(answer["why_not"]["step"]), 0.0);
  EXPECT_EQ(answer["plans"][0]["layout"].get<std::string>().find("cp_method"), std::string::npos);
}

TEST(PlanCli, TextIsAsWideAsTheTerminal) {
  for (const std::size_t width : {80U, 120U}) {
    const Ran ran = run_sextant(plan_words({}), {}, {"COLUMNS=" + std::to_string(width)});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    std::size_t longest = 0;
    std::size_t place = 0;
    for (const char c : ran.out) {
      place = c == '\n' ? 0 : place + ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U ? 0 : 1);
      longest = std::max(longest, place);
    }
    EXPECT_LE(longest, width) << ran.out;
    EXPECT_GT(longest, width / 2);
  }
  const Ran wrong = run_sextant({"plan", "gpt2", "--on", "8xh1000"}, {}, {"COLUMNS=80"});
  EXPECT_LE(wrong.err.find('\n'), 80U) << wrong.err;
}

TEST(PlanCli, OnesOwnJobThatDoesNotSayEnoughIsAnError) {
  const Folder folder;
  const std::string script = folder.write("train.sh", own_script("--micro-batch-size 1"));
  const Ran ran = run_sextant({"plan", "--from", script});
  EXPECT_EQ(ran.exit_code, 2);
  expect_said(ran.err, {"the device is not stated"});
}

TEST(PlanCli, ThePlanComesAsFilesThatReadBackToIt) {
  const Folder folder;
  const std::string out = (folder.path() / "job").string();
  const json answer = answer_of(plan_words({"--emit", "megatron", "--out", out}));
  ASSERT_EQ(answer["written"].size(), 1U);
  const std::string file = answer["written"][0].get<std::string>();
  expect_said(content(file), {"predicted step", "needs", "pretrain_gpt.py"});
  const json checked = json::parse(run_sextant({"check", file, "--on", "h100-sxm", "--json"}).out);
  EXPECT_TRUE(checked["legal"].get<bool>());
  const json& plan = answer["recommended"];
  EXPECT_NEAR(step_of(checked["predicted"]), step_of(plan), 0.02 * step_of(plan));
}

TEST(PlanCli, PicturesAreWritten) {
  const Folder folder;
  const std::string out = (folder.path() / "pictures").string();
  Words words = plan_words({"--plot", out}, "cp=1,mbs=1,recompute=none,overlap=grad_reduce");
  // A front takes a search of its own: there is a picture of it where one was asked for.
  ASSERT_EQ(run_sextant(words).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "pictures" / "front.svg"));
  words.emplace_back("--pareto");
  const Ran ran = run_sextant(words);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* name : {"memory", "timeline", "waterfall", "front", "heat-map"}) {
    const std::string text = content(folder.path() / "pictures" / (std::string(name) + ".svg"));
    EXPECT_TRUE(text.starts_with("<svg") || text.starts_with("<?xml")) << name;
    EXPECT_NE(ran.err.find(std::string(name) + ".svg"), std::string::npos) << ran.err;
  }
  words.insert(words.end(), {"--plot-as", "png"});
  ASSERT_EQ(run_sextant(words).exit_code, 0);
  EXPECT_TRUE(content(folder.path() / "pictures" / "memory.png").starts_with("\x89PNG"));
}

TEST(PlanCli, WrongWordsAreUsage) {
  const std::vector<std::pair<Words, std::string>> cases{
      {{"plan", "--on", "8xh100-sxm"}, "the model is missing"},
      {plan_words({"--objective", "speed"}), "--objective"},
      {plan_words({"--headroom", "120%"}), "--headroom"},
      {plan_words({"--top", "0"}), "--top"},
      {plan_words({"--days", "30"}), "a deadline needs the tokens"},
      {plan_words({"--out", "x"}), "--emit"},
      {plan_words({"--why-not", "tq=3"}), "--why-not"},
      {plan_words({}, "tq=3"), "--fix"},
      {plan_words({"--precision", "fp7"}), "--precision: 'fp7'"},
      {plan_words({"--emit", "torchtitan", "--framework", "megatron-core"}), "not a dialect"},
      {plan_words({"--plot-as", "jpg", "--plot", "x"}), "svg or png"}};
  for (const auto& [words, said] : cases) {
    const Ran ran = run_sextant(words);
    EXPECT_EQ(ran.exit_code, 2) << said << ran.out;
    EXPECT_NE(ran.err.find(said), std::string::npos) << ran.err;
  }
}

TEST(PlanCli, ABatchLeftOpenIsAboutFourMillionTokens) {
  Words words{"plan", "llama-3.1-8b", "--on", "8xh100-sxm", "--fix", "cp=1,mbs=1,tp=2"};
  const json answer = answer_of(words);
  EXPECT_EQ(answer["global_batch"], 1024);  // 4 Mi / 4096
  bool said = false;
  for (const json& assumed : answer["assumed"]) {
    said = said || (assumed["key"] == "gbs" && assumed["value"] == "1024");
  }
  EXPECT_TRUE(said) << answer["assumed"];
}

TEST(PlanCli, OtherWaysToChooseAndTheProofStandBesideThePlan) {
  const std::string fix = "cp=1,mbs=1,tp=2,recompute=none,overlap=grad_reduce+param_gather,zero=1";
  const json answer =
      answer_of(plan_words({"--baselines", "megatron-rule,black-box,random", "--proof"}, fix));
  ASSERT_EQ(answer["baselines"].size(), 3U);
  const double best = step_of(answer["plans"][0]);
  for (const json& one : answer["baselines"]) {
    EXPECT_GT(one["cost_calls"].get<double>(), 0.0) << one;
    if (!one["step_time_s"].is_null() && one["name"] == "random") {
      EXPECT_GE(step_of(one), best) << one;
    }
  }
  EXPECT_TRUE(answer["proof"]["exhaustive"].get<bool>());
  EXPECT_TRUE(answer["proof"]["holds"].get<bool>());
  EXPECT_EQ(answer["proof"]["checked"], answer["search"]["possible"]);
  const Ran said = run_sextant(plan_words({"--baselines", "random", "--proof"}, fix));
  expect_said(said.out, {"other ways to choose", "proof: all ", "none is faster"});
  const Ran wrong = run_sextant(plan_words({"--baselines", "rule"}, fix));
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("megatron-rule"), std::string::npos) << wrong.err;
}

TEST(PlanCli, FilesForAnotherFrameworkAreOfAPlanForIt) {
  const Folder folder;
  const std::string script = folder.write(
      "train.sh",
      "torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 4 "
      "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --swiglu --vocab-size 32000 "
      "--seq-length 4096 --max-position-embeddings 4096 --micro-batch-size 1 "
      "--global-batch-size 64 --bf16 --use-distributed-optimizer\n");
  const Ran ran =
      run_sextant({"plan", "--from", script, "--on", "h100-sxm", "--emit", "torchtitan", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["framework"], "torchtitan");
  EXPECT_TRUE(answer["changes"].is_null()) << answer["changes"];
  // The layout is one that torchtitan has words for.
  EXPECT_EQ(ran.err.find("zero="), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("overlap="), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace sextant::tests
