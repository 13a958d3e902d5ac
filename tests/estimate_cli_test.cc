// `sextant estimate`, `sextant explain step` and `sextant explain compute` as a user meets them:
// numbers that add up, trainings, timelines, sweeps, plots, refusals.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

std::vector<std::string> estimate_words(std::vector<std::string> more = {}) {
  std::vector<std::string> words{"estimate", "llama-3.1-8b", "--on",  "8xh200-sxm",
                                 "--layout", "tp=2,pp=2",    "--gbs", "16"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(EstimateCli, TheTableSaysWhereTheStepGoes) {
  const Ran ran = run_sextant(estimate_words());
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* said :
       {"80 % interval", "tokens/s a device", "MFU", "HFU", "TFLOP/s a device", "communication",
        "hidden behind compute", "pipeline rank 1 is the slowest, stage 1 (layers",
        "fits: pipeline rank", "where the step goes", "compute", "waiting for the host",
        "exposed tp", "exposed pp", "bubble", "update", "loop and unevenness",
        "assumed: attention=cudnn", "assumed: host: as fast"}) {
    EXPECT_NE(ran.out.find(said), std::string::npos) << said << "\n" << ran.out;
  }
  EXPECT_EQ(ran.out.find("exposed ep"), std::string::npos) << "no experts, no such term";
  EXPECT_EQ(ran.out.find("longest operators"), std::string::npos);
  const Ran verbose = run_sextant(estimate_words({"--verbose"}));
  for (const char* said : {"longest operators", "fc1 gemm", "forward", "kernels"}) {
    EXPECT_NE(verbose.out.find(said), std::string::npos) << said << "\n" << verbose.out;
  }
}

double sum_of(const json& object) {
  double sum = 0.0;
  for (const auto& item : object.items()) {
    sum += item.value().get<double>();
  }
  return sum;
}

TEST(EstimateCli, JsonAddsUp) {
  const Ran ran = run_sextant(estimate_words({"--json"}));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("{\n  \"schema\": \"sextant.estimate/3\""));
  const json answer = json::parse(ran.out);
  const auto step = answer["step_time_s"].get<double>();
  const json& terms = answer["terms"];
  for (const char* term : {"compute_s", "host_s", "tp_s", "cp_s", "ep_s", "pp_s", "dp_s",
                           "bubble_s", "update_s", "loop_s"}) {
    ASSERT_TRUE(terms.contains(term)) << term;
    EXPECT_GE(terms[term].get<double>(), 0.0) << term;
  }
  EXPECT_EQ(terms.size(), 10U);
  EXPECT_NEAR(sum_of(terms) / step, 1.0, 1e-9);
  EXPECT_LT(answer["step_time_low_s"].get<double>(), step);
  EXPECT_GT(answer["step_time_high_s"].get<double>(), step);
  EXPECT_GT(answer["interval"]["rows"].get<int>(), 0);
  EXPECT_EQ(answer["tokens_per_step"].get<double>(), 16.0 * 4096.0);
  EXPECT_NEAR(answer["tokens_per_s_per_device"].get<double>() * 8.0 * step / (16.0 * 4096.0), 1.0,
              1e-9);
  EXPECT_NEAR(answer["utilisation"].get<double>() * answer["peak_TFLOPps"].get<double>() /
                  answer["model_TFLOPps_per_device"].get<double>(),
              1.0, 1e-9);
  const json& comm = answer["communication"];
  EXPECT_NEAR(comm["overhead"].get<double>() * step / comm["exposed_s"].get<double>(), 1.0, 1e-9);
  double exposed = 0.0;
  double hidden = 0.0;
  for (const auto& axis : comm["axes"].items()) {
    EXPECT_EQ(axis.value()["exposed_s"], terms[axis.key() + "_s"]);
    exposed += axis.value()["exposed_s"].get<double>();
    hidden += axis.value()["hidden_s"].get<double>();
  }
  EXPECT_NEAR(exposed / comm["exposed_s"].get<double>(), 1.0, 1e-9);
  EXPECT_NEAR(hidden, comm["hidden_s"].get<double>(), 1e-9);
  EXPECT_TRUE(answer["fits"].get<bool>());
  EXPECT_EQ(answer["microbatches"], 8);
  EXPECT_EQ(answer["stages"].size(), 2U);
  EXPECT_TRUE(answer["training"].is_null());
}

TEST(EstimateCli, ComputeInDetailAddsUp) {
  const json answer = json::parse(run_sextant(estimate_words({"--json"})).out);
  const json& compute = answer["compute"];
  const auto step = compute["step_compute_time_s"].get<double>();
  EXPECT_NEAR(sum_of(compute["parts"]) / step, 1.0, 1e-9);
  double device = 0.0;
  for (const auto& phase : compute["phases"].items()) {
    device += phase.value()["device_time_s"].get<double>() * phase.value()["times"].get<double>();
  }
  EXPECT_NEAR((device + compute["parts"]["waiting_s"].get<double>()) / step, 1.0, 1e-9);
  EXPECT_EQ(compute["longest_operators"].size(), 5U);
  bool known = false;
  for (const auto& input : answer["inputs"].items()) {
    known = known || input.key().ends_with("step.toml");
  }
  EXPECT_TRUE(known) << "the constants of a step are among its inputs";
}

// The same model FLOPs whatever the layout: what the model asks of a step (16 sequences).
TEST(EstimateCli, ModelFlopsDoNotDependOnTheLayout) {
  const auto flops = [](const char* layout) {
    const json answer = json::parse(run_sextant({"estimate", "llama-3.1-8b", "--on", "8xh200-sxm",
                                                 "--layout", layout, "--gbs", "16", "--json"})
                                        .out);
    return answer["model_TFLOPps_per_device"].get<double>() * answer["step_time_s"].get<double>();
  };
  EXPECT_NEAR(flops("tp=2,pp=2") / flops("tp=8"), 1.0, 1e-6);
  EXPECT_NEAR(flops("pp=4,recompute=full") / flops("tp=8"), 1.0, 1e-6);
}

TEST(EstimateCli, WhatDoesNotFitIsSaidAndANo) {
  const std::vector<std::string> words{"estimate",   "llama-3.1-70b", "--on",
                                       "8xh100-sxm", "--layout",      "tp=8"};
  const Ran ran = run_sextant(words);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.out.find("does not fit: pipeline rank 0 needs at least"), std::string::npos);
  EXPECT_NE(ran.out.find("where the step goes"), std::string::npos);
  std::vector<std::string> as_json = words;
  as_json.emplace_back("--json");
  const json answer = json::parse(run_sextant(as_json).out);
  EXPECT_FALSE(answer["fits"].get<bool>());
  EXPECT_GT(answer["memory"]["missing_bytes"].get<double>(), 0.0);
}

// 1e12 tokens in steps of 16 · 4096.
TEST(EstimateCli, ATrainingTakesAsManyStepsAsItsTokens) {
  const json answer =
      json::parse(run_sextant(estimate_words({"--tokens", "1T", "--price", "2.5", "--json"})).out);
  const json& run = answer["training"];
  EXPECT_EQ(run["steps"].get<double>(), std::ceil(1e12 / 65536.0));
  const double days = run["steps"].get<double>() * answer["step_time_s"].get<double>() / 86400.0;
  EXPECT_NEAR(run["time_days"].get<double>() / days, 1.0, 1e-9);
  EXPECT_NEAR(run["device_hours"].get<double>() / (days * 24.0 * 8.0), 1.0, 1e-9);
  EXPECT_NEAR(run["cost"].get<double>() / (run["device_hours"].get<double>() * 2.5), 1.0, 1e-9);
  EXPECT_NEAR(run["cost_high"].get<double>() / run["cost"].get<double>(),
              answer["interval"]["high_ratio"].get<double>(), 1e-9);
  const Ran free = run_sextant(estimate_words({"--tokens", "300B"}));
  EXPECT_NE(free.out.find("300 B tokens: 4,577,637 steps"), std::string::npos) << free.out;
  EXPECT_EQ(free.out.find("cost"), std::string::npos);
}

// Events of every track; times in nanoseconds.
struct Event {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::string name;
};
std::map<std::pair<int, int>, std::vector<Event>> tracks_of(const std::string& file) {
  std::map<std::pair<int, int>, std::vector<Event>> tracks;
  const json trace = json::parse(content(file), nullptr, false);
  EXPECT_FALSE(trace.is_discarded());
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      const auto start = std::llround(event["ts"].get<double>() * 1e3);
      const auto length = std::llround(event["dur"].get<double>() * 1e3);
      tracks[{event["pid"].get<int>(), event["tid"].get<int>()}].push_back(
          {start, start + length, event["name"].get<std::string>()});
    }
  }
  return tracks;
}

// Events in order, none over another; on the compute track update and loop are the last.
void expect_orderly(int stream, const std::vector<Event>& events, const std::string& layout) {
  for (std::size_t i = 1; i < events.size(); ++i) {
    EXPECT_GE(events[i].start, events[i - 1].end) << layout << " " << events[i].name;
  }
  if (stream == 0) {
    EXPECT_EQ(events.back().name, "loop and uneven devices");
    EXPECT_EQ(events[events.size() - 2].name, "update");
  }
}

TEST(EstimateCli, TheTimelineEndsWithTheStep) {
  const Folder folder;
  const std::string file = (folder.path() / "step.json").string();
  for (const char* layout :
       {"tp=2,pp=2", "tp=2", "pp=4,vpp=2", "pp=2,vpp=2,schedule=zbv", "pp=2,schedule=gpipe"}) {
    const bool own = std::string_view(layout).find("schedule") == std::string_view::npos;
    const Ran ran = run_sextant({"estimate", "llama-3.1-8b", "--on", "8xh200-sxm", "--framework",
                                 own ? "megatron-core" : "other", "--layout", layout, "--gbs", "32",
                                 "--timeline", file, "--json"});
    ASSERT_EQ(ran.exit_code, 0) << layout << ran.err;
    EXPECT_NE(ran.err.find("timeline of "), std::string::npos);
    std::int64_t last = 0;
    for (const auto& [track, events] : tracks_of(file)) {
      expect_orderly(track.second, events, layout);
      last = std::max(last, events.back().end);
    }
    EXPECT_NEAR(static_cast<double>(last) * 1e-9, json::parse(ran.out)["step_time_s"].get<double>(),
                2e-9)
        << layout;
    EXPECT_NE(content(file).find("gradients and parameters ("), std::string::npos) << layout;
  }
}

TEST(EstimateCli, TooManyMicrobatchesAreNotDrawn) {
  const Ran ran = run_sextant({"estimate", "gpt2", "--on", "1xh200-sxm", "--gbs", "1000000000",
                               "--timeline", "/tmp/never-written.json"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("--timeline: 2,000,000,000 passes"), std::string::npos) << ran.err;
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
    EXPECT_DOUBLE_EQ(tree["number"].get<double>(),
                     estimate["compute"]["step_compute_time_s"].get<double>());
  }
}

TEST(ExplainStep, EveryTermIsTheSumOfItsPartsAndTheRootIsTheStep) {
  for (const std::vector<std::string>& job :
       {std::vector<std::string>{"llama-3.1-8b", "--on", "64xh100-sxm", "--layout", "tp=4,pp=2"},
        {"llama-3.1-8b", "--on", "64xh100-sxm", "--layout", "tp=2,cp=2,pp=2,vpp=2"},
        {"llama-3.1-8b", "--on", "16xh100-sxm", "--framework", "torchtitan", "--layout",
         "recompute=full"},
        {"mixtral-8x7b", "--on", "64xh200-sxm", "--layout", "ep=8,pp=4"},
        {"gpt2", "--on", "1xh200-sxm", "--framework", "accelerate"}}) {
    std::vector<std::string> words{"explain", "step", "--json"};
    words.insert(words.end(), job.begin(), job.end());
    const Ran ran = run_sextant(words);
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const json tree = json::parse(ran.out)["tree"];
    expect_sums(tree);
    EXPECT_EQ(tree["page"], "docs/models/step.md");
    words[0] = "estimate";
    words.erase(words.begin() + 1);
    const json estimate = json::parse(run_sextant(words).out);
    EXPECT_DOUBLE_EQ(tree["number"].get<double>(), estimate["step_time_s"].get<double>());
  }
}

TEST(ExplainStep, MessagesNameTheirGroupBytesCountAndWhatHidesThem) {
  const Ran ran = run_sextant(
      {"explain", "step", "llama-3.1-8b", "--on", "64xh100-sxm", "--layout", "tp=4,pp=2"});
  for (const char* said :
       {"x all_gather of 32 MiB over 4 ranks (tp)", "nothing hides it", "step.toml: hidden_tensor",
        "messages between stages", "step.toml: loop", "span of 1f1b without messages"}) {
    EXPECT_NE(ran.out.find(said), std::string::npos) << said;
  }
}

TEST(EstimateCli, ASweepAnswersEveryValueAndTheBaseIsOneOfThem) {
  const Ran ran = run_sextant(estimate_words({"--sweep", "mbs=1,2,4", "--json"}));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  EXPECT_EQ(answer["schema"], "sextant.estimate-sweep/3");
  EXPECT_EQ(answer["factor"], "mbs");
  ASSERT_EQ(answer["points"].size(), 3U);
  for (const json& point : answer["points"]) {
    double shares = 0.0;
    for (const auto& share : point["compute_shares"].items()) {
      shares += share.value().get<double>();
    }
    EXPECT_NEAR(shares, 1.0, 1e-9);
    EXPECT_NEAR(sum_of(point["terms"]) / point["step_time_s"].get<double>(), 1.0, 1e-9);
    EXPECT_GT(point["step_time_s"], point["step_compute_time_s"]);
    EXPECT_EQ(point["microbatches"], 8);
  }
  const json alone = json::parse(run_sextant(estimate_words({"--json"})).out);
  EXPECT_EQ(answer["points"][0]["step_time_s"], alone["step_time_s"]);
  EXPECT_EQ(answer["points"][0]["step_compute_time_s"], alone["compute"]["step_compute_time_s"]);
  EXPECT_EQ(answer["points"][0]["utilisation"], alone["utilisation"]);
}

TEST(EstimateCli, AnIllegalPointIsShownWithItsReason) {
  const Ran text = run_sextant(estimate_words({"--sweep", "tp=2,3"}));
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("not legal: "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("HEADS-TP: tp=3 does not divide 32 attention heads"), std::string::npos);
  const json answer = json::parse(run_sextant(estimate_words({"--sweep", "tp=2,3", "--json"})).out);
  EXPECT_TRUE(answer["points"][0]["legal"].get<bool>());
  EXPECT_FALSE(answer["points"][1]["legal"].get<bool>());
  EXPECT_FALSE(answer["points"][1]["reasons"].empty());
  EXPECT_EQ(run_sextant(estimate_words({"--sweep", "tp=3"})).exit_code, 1);
}

TEST(EstimateCli, PlotsAreWrittenAndTheSameTwice) {
  const Folder folder;
  for (const char* name : {"p.svg", "p.png"}) {
    const std::string file = (folder.path() / name).string();
    const std::vector<std::string> words =
        estimate_words({"--sweep", "tp=1,2,3,4", "--plot", file});
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
  EXPECT_NE(svg.find(">communication</text>"), std::string::npos);
  EXPECT_TRUE(content(folder.path() / "p.png").starts_with("\x89PNG"));
}

TEST(EstimateCli, FormatsAreThoseOfTheOtherCommands) {
  EXPECT_TRUE(run_sextant(estimate_words({"--sweep", "mbs=1", "-o", "md"})).out.find("| mbs |") !=
              std::string::npos);
  EXPECT_TRUE(run_sextant(estimate_words({"--sweep", "mbs=1", "-o", "csv"}))
                  .out.starts_with("mbs,step ms,"));
  EXPECT_TRUE(
      run_sextant(estimate_words({"-o", "csv"})).out.starts_with("term,time_s,share\ncompute,"));
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
  const Ran factor = run_sextant(estimate_words({"--sweep", "layers"}));
  EXPECT_EQ(factor.exit_code, 2);
  EXPECT_EQ(factor.out, "");
  EXPECT_EQ(factor.err,
            "sextant: error: --sweep: 'layers' is not a known factor "
            "(allowed: mbs, seq, tp, hidden, precision)\n");
  EXPECT_EQ(run_sextant(estimate_words({"--sweep", "mbs=0"})).exit_code, 2);
  const Ran plot = run_sextant(estimate_words({"--sweep", "mbs=1", "--plot", "/tmp/plot.gif"}));
  EXPECT_EQ(plot.exit_code, 2);
  EXPECT_NE(plot.err.find(".svg or .png"), std::string::npos);
  EXPECT_EQ(run_sextant(estimate_words({"--plot", "p.svg"})).exit_code, 2);
  EXPECT_EQ(run_sextant(estimate_words({"--sweep", "mbs=1", "--plot", "/no/such/folder/p.svg"}))
                .exit_code,
            3);
  EXPECT_EQ(run_sextant({"estimate", "llama-3.1-8b"}).exit_code, 2);
}

TEST(EstimateCli, BadTrainingsSayWhatIsAllowed) {
  for (const auto& [words, said] :
       {std::pair<std::vector<std::string>, const char*>{
            {"--tokens", "abc"},
            "--tokens: 'abc' is not a number of tokens (allowed: a number from 1 to 10^18, with T, "
            "B, M or K: 15T, 300B)"},
        {{"--tokens", "-3B"}, "--tokens: '-3B' is not a number of tokens"},
        {{"--tokens", "T"}, "--tokens: 'T' is not a number of tokens"},
        {{"--tokens", "1T", "--price", "-1"}, "--price: '-1' is not a price of a device-hour"},
        {{"--price", "2"}, "--price: a price alone costs nothing"},
        {{"--sweep", "mbs", "--tokens", "1T"}, "--tokens: a sweep has no single training"},
        {{"--sweep", "mbs", "--timeline", "t"}, "--timeline: a sweep has no single timeline"}}) {
    const Ran ran = run_sextant(estimate_words(words));
    EXPECT_EQ(ran.exit_code, 2) << said;
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find(said), std::string::npos) << ran.err;
  }
}

// Finding 8 of the review of plan and estimate.
TEST(EstimateCli, LinksThatWereNeverMeasuredAreAssumedAndWidenTheInterval) {
  const Ran ran = run_sextant({"estimate", "gpt2", "--on", "4xrtx-4090", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const json answer = json::parse(ran.out);
  const Ran known = run_sextant({"estimate", "gpt2", "--on", "4xl40s", "--json"});
  ASSERT_EQ(known.exit_code, 0) << known.err;
  const double wide =
      answer["step_time_high_s"].get<double>() / answer["step_time_s"].get<double>();
  const double share = answer["communication"]["overhead"].get<double>();
  EXPECT_GT(share, 0.0);
  EXPECT_GT(wide, 1.0 + 2.0 * share);
  EXPECT_NE(ran.out.find("were never measured here"), std::string::npos);
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
    for (const char* word : {"compare", "tokens", "price", "timeline"}) {
      EXPECT_NE(script.find(word), std::string::npos) << shell << " " << word;
    }
  }
  EXPECT_NE(run_sextant({"completion", "bash"}).out.find("mbs seq tp hidden precision"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant::tests
