// `sextant estimate` and `sextant explain compute` as a user meets them: numbers that add up,
// sweeps, plots, refusals.
#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

std::vector<std::string> asked(std::vector<std::string> more = {}) {
  std::vector<std::string> words{"estimate", "llama-3.1-8b", "--on",  "8xh200-sxm",
                                 "--layout", "tp=2,pp=2",    "--gbs", "16"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(EstimateCli, TheTableSaysWhatBindsAndWhatIsLeftOut) {
  const Ran ran = run_sextant(asked());
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* said :
       {"compute only", "pipeline rank 1, the slowest", "forward", "backward", "update", "host",
        "longest operators", "fc1 gemm", "assumed: attention=cudnn", "assumed: a host as fast"}) {
    EXPECT_NE(ran.out.find(said), std::string::npos) << said << "\n" << ran.out;
  }
  const std::size_t last = ran.out.rfind("left out: communication and pipeline bubbles");
  ASSERT_NE(last, std::string::npos);
  EXPECT_EQ(ran.out.find('\n', last), ran.out.size() - 1);
}

TEST(EstimateCli, JsonAddsUp) {
  const Ran ran = run_sextant(asked({"--json"}));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("{\n  \"schema\": \"sextant.estimate/1\""));
  const json answer = json::parse(ran.out);
  const auto step = answer["step_compute_time_s"].get<double>();
  double parts = 0.0;
  for (const auto& part : answer["parts"].items()) {
    parts += part.value().get<double>();
  }
  EXPECT_NEAR(parts / step, 1.0, 1e-9);
  double device = 0.0;
  for (const auto& phase : answer["phases"].items()) {
    device += phase.value()["device_time_s"].get<double>() * phase.value()["times"].get<double>();
  }
  EXPECT_NEAR((device + answer["parts"]["waiting_s"].get<double>()) / step, 1.0, 1e-9);
  EXPECT_EQ(answer["microbatches"], 8);
  EXPECT_NEAR(
      answer["utilisation"].get<double>(),
      answer["model_flops"].get<double>() / step / (answer["peak_TFLOPps"].get<double>() * 1e12),
      1e-9);
  EXPECT_EQ(answer["longest_operators"].size(), 5U);
  EXPECT_EQ(answer["inputs"].size(), 6U);  // model, device, system, fabric, kernels, host
}

// Every part of the tree adds up to what it is part of.
void expect_sums(const json& term) {
  if (!term.contains("parts")) {
    return;
  }
  double sum = 0.0;
  for (const json& part : term["parts"]) {
    sum += part["number"].get<double>();
    expect_sums(part);
  }
  EXPECT_NEAR(sum / term["number"].get<double>(), 1.0, 1e-9) << term["name"];
}

TEST(ExplainCompute, EveryTermIsTheSumOfItsParts) {
  for (const std::vector<std::string>& job :
       {std::vector<std::string>{"llama-3.1-8b", "--on", "8xh200-sxm", "--layout", "tp=2,pp=2",
                                 "--gbs", "16"},
        {"llama-3.1-8b", "--on", "8xh100-sxm", "--framework", "torchtitan", "--layout",
         "recompute=full"},
        {"mixtral-8x7b", "--on", "8xh200-sxm", "--layout", "ep=8,precision=fp8"},
        {"gpt2", "--on", "1xh200-sxm", "--framework", "accelerate"}}) {
    std::vector<std::string> words{"explain", "compute", "--json"};
    words.insert(words.end(), job.begin(), job.end());
    const Ran ran = run_sextant(words);
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const json tree = json::parse(ran.out)["tree"];
    expect_sums(tree);
    EXPECT_EQ(tree["page"], "docs/models/compute.md");
    words[0] = "estimate";
    words.erase(words.begin() + 1);
    const json estimate = json::parse(run_sextant(words).out);
    EXPECT_DOUBLE_EQ(tree["number"].get<double>(), estimate["step_compute_time_s"].get<double>());
  }
}

TEST(EstimateCli, ASweepAnswersEveryValueAndTheBaseIsOneOfThem) {
  const Ran ran = run_sextant(asked({"--sweep", "mbs=1,2,4", "--json"}));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["schema"], "sextant.estimate-sweep/1");
  EXPECT_EQ(answer["factor"], "mbs");
  ASSERT_EQ(answer["points"].size(), 3U);
  for (const json& point : answer["points"]) {
    double shares = 0.0;
    for (const auto& share : point["shares"].items()) {
      shares += share.value().get<double>();
    }
    EXPECT_NEAR(shares, 1.0, 1e-9);
    EXPECT_EQ(point["microbatches"], 8);
  }
  const json alone = json::parse(run_sextant(asked({"--json"})).out);
  EXPECT_EQ(answer["points"][0]["step_compute_time_s"], alone["step_compute_time_s"]);
  EXPECT_EQ(answer["points"][0]["utilisation"], alone["utilisation"]);
}

TEST(EstimateCli, AnIllegalPointIsShownWithItsReason) {
  const Ran text = run_sextant(asked({"--sweep", "tp=2,3"}));
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("not legal: "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("HEADS-TP: tp=3 does not divide 32 attention heads"), std::string::npos);
  const json answer = json::parse(run_sextant(asked({"--sweep", "tp=2,3", "--json"})).out);
  EXPECT_TRUE(answer["points"][0]["legal"].get<bool>());
  EXPECT_FALSE(answer["points"][1]["legal"].get<bool>());
  EXPECT_FALSE(answer["points"][1]["reasons"].empty());
  EXPECT_EQ(run_sextant(asked({"--sweep", "tp=3"})).exit_code, 1);
}

TEST(EstimateCli, PlotsAreWrittenAndTheSameTwice) {
  const Folder folder;
  for (const char* name : {"p.svg", "p.png"}) {
    const std::string file = (folder.path() / name).string();
    const std::vector<std::string> words = asked({"--sweep", "tp=1,2,3,4", "--plot", file});
    const Ran ran = run_sextant(words);
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_NE(ran.err.find("plot written to"), std::string::npos);
    const std::string first = content(file);
    EXPECT_FALSE(first.empty());
    ASSERT_EQ(run_sextant(words).exit_code, 0);
    EXPECT_EQ(content(file), first);
  }
  const std::string svg = content(folder.path() / "p.svg");
  EXPECT_TRUE(svg.starts_with("<svg"));
  EXPECT_NE(svg.find(">not legal</text>"), std::string::npos);
  EXPECT_NE(svg.find(">products</text>"), std::string::npos);
  EXPECT_TRUE(content(folder.path() / "p.png").starts_with("\x89PNG"));
}

TEST(EstimateCli, FormatsAreThoseOfTheOtherCommands) {
  EXPECT_TRUE(run_sextant(asked({"--sweep", "mbs=1", "-o", "md"})).out.find("| mbs |") !=
              std::string::npos);
  EXPECT_TRUE(run_sextant(asked({"--sweep", "mbs=1", "-o", "csv"})).out.starts_with("mbs,MFU %,"));
  EXPECT_TRUE(run_sextant(asked({"-o", "csv"})).out.starts_with("phase,times,device,host,"));
}

TEST(EstimateCli, AnIllegalLayoutIsTheAnswerNo) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--sweep", "mbs"}, {"--sweep", "tp"}}) {
    std::vector<std::string> words{"estimate",   "llama-3.1-8b", "--on",
                                   "8xh200-sxm", "--layout",     "tp=3"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run_sextant(words);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_NE(ran.out.find("HEADS-TP"), std::string::npos);
  }
}

TEST(EstimateCli, BadWordsSayWhatIsAllowed) {
  const Ran factor = run_sextant(asked({"--sweep", "layers"}));
  EXPECT_EQ(factor.exit_code, 2);
  EXPECT_EQ(factor.out, "");
  EXPECT_EQ(factor.err,
            "sextant: error: --sweep: 'layers' is not a known factor "
            "(allowed: mbs, seq, tp, hidden, precision)\n");
  EXPECT_EQ(run_sextant(asked({"--sweep", "mbs=0"})).exit_code, 2);
  const Ran plot = run_sextant(asked({"--sweep", "mbs=1", "--plot", "/tmp/plot.gif"}));
  EXPECT_EQ(plot.exit_code, 2);
  EXPECT_NE(plot.err.find(".svg or .png"), std::string::npos);
  EXPECT_EQ(run_sextant(asked({"--plot", "p.svg"})).exit_code, 2);
  EXPECT_EQ(run_sextant(asked({"--sweep", "mbs=1", "--plot", "/no/such/folder/p.svg"})).exit_code,
            3);
  EXPECT_EQ(run_sextant({"estimate", "llama-3.1-8b"}).exit_code, 2);
}

TEST(EstimateCli, HugeNumbersAreAnsweredAtOnce) {
  const Ran batch =
      run_sextant({"estimate", "gpt2", "--on", "1xh200-sxm", "--gbs", "1000000000", "--json"});
  ASSERT_EQ(batch.exit_code, 0) << batch.err;
  EXPECT_EQ(json::parse(batch.out)["microbatches"], 1000000000);
  const Ran tokens = run_sextant({"estimate", "llama-3.1-8b", "--on", "1xh200-sxm", "--layout",
                                  "mbs=10000000", "--seq", "1000000000"});
  EXPECT_EQ(tokens.exit_code, 2);
  EXPECT_NE(tokens.err.find("tokens"), std::string::npos);
}

TEST(EstimateCli, CompletionKnowsItsOptions) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = run_sextant({"completion", shell}).out;
    EXPECT_NE(script.find("estimate"), std::string::npos) << shell;
    EXPECT_NE(script.find("sweep"), std::string::npos) << shell;
    EXPECT_NE(script.find("plot"), std::string::npos) << shell;
  }
  EXPECT_NE(run_sextant({"completion", "bash"}).out.find("mbs seq tp hidden precision"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant::tests
