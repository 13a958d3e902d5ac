// `sextant tune` as a user meets it: a case file, a job, a recorded run, an experiment's folder;
// and the log of sessions.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/places_testing.h"
#include "made_traces.h"
#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;
using TuneWords = std::vector<std::string>;

// A small case of our own: a ring of short blocks on 64 chips.
constexpr std::string_view kCase = R"(device = "tpu-v5p"
chips = 64
topology = "4x4x4"
kind = "training"
batch = 64
sequence_length = 4096
baseline_mesh = { data = 4, seq = 4, model = 4 }
[kpi]
step_time_ms = 1200.5
duty_cycle = 0.99
[[top_ops]]
name = "fusion.1"
category = "convolution fusion"
share = 0.2
bound = "compute"
efficiency = 0.7
[[top_ops]]
name = "collective-permute.1"
category = "collective-permute"
share = 0.2
[answer]
adopted = { data = 1 }
)";

Ran tuned(TuneWords words) {
  words.insert(words.begin(), "tune");
  return run_sextant(words);
}

json tune_answer(TuneWords words, int exit_code = 0) {
  words.emplace_back("--json");
  const Ran ran = tuned(std::move(words));
  EXPECT_EQ(ran.exit_code, exit_code) << ran.err << ran.out;
  return ran.out.empty() ? json() : json::parse(ran.out);
}

TuneWords meshes_of(const json& list) {
  TuneWords meshes;
  for (const json& one : list) {
    meshes.push_back(one["mesh"].is_null() ? "" : one["mesh"].get<std::string>());
  }
  return meshes;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::size_t width = 0;
  for (const char c : text) {
    if (c == '\n') {
      widest = std::max(widest, width);
      width = 0;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      ++width;
    }
  }
  return widest;
}

TEST(TuneCli, ACaseFileGivesThreeProposalsWithVerdicts) {
  const Folder folder;
  const std::string file = folder.write("case.toml", std::string(kCase));
  const json answer = tune_answer({"--case", file, "--no-log"});
  EXPECT_EQ(answer["schema"], "sextant.tune/1");
  EXPECT_EQ(answer["engine"], "built-in");
  EXPECT_TRUE(answer["session"].is_null());
  EXPECT_TRUE(answer["inputs"].contains(file));
  EXPECT_EQ(answer["analysis"]["settled"]["bottleneck"], "compute");
  EXPECT_NEAR(answer["analysis"]["kpis"][0]["value"].get<double>(), 1200.5, 1e-9);
  ASSERT_EQ(answer["proposals"].size(), 3U);
  for (const json& one : answer["proposals"]) {
    EXPECT_NE(one["verdict"]["ruling"], "rejected");
    EXPECT_FALSE(one["title"].get<std::string>().empty());
    EXPECT_FALSE(one["verdict"]["reason"].get<std::string>().empty());
    EXPECT_FALSE(one["citations"].empty());
    EXPECT_FALSE(one["run"].empty());
  }
}

TEST(TuneCli, TheTextFitsATerminalAndSaysWhatJsonSays) {
  const Folder folder;
  const std::string file = folder.write("case.toml", std::string(kCase));
  const json answer = tune_answer({"--case", file, "--no-log", "--no-kb"});
  const Ran ran = tuned({"--case", file, "--no-log", "--no-kb"});
  EXPECT_LE(widest_line(ran.out), 120U) << ran.out;
  for (const std::string& mesh : meshes_of(answer["proposals"])) {
    EXPECT_NE(ran.out.find(mesh), std::string::npos) << mesh;
  }
  EXPECT_NE(ran.out.find("held up by compute"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("jax.make_mesh("), std::string::npos);
  const Ran short_one = tuned({"--case", file, "--no-log", "--no-kb", "--top", "1"});
  EXPECT_NE(short_one.out.find("fusion.1"), std::string::npos);
  EXPECT_LT(short_one.out.size(), ran.out.size());
  const Ran verbose = tuned({"--case", file, "--no-log", "--no-kb", "--verbose"});
  EXPECT_GT(verbose.out.size(), ran.out.size());
  EXPECT_NE(verbose.out.find("the case file"), std::string::npos);
}

TEST(TuneCli, TheSameInputGivesTheSameBytes) {
  const Folder folder;
  const std::string file = folder.write("case.toml", std::string(kCase));
  const std::string kb = (folder.path() / "kb.sqlite").string();
  const TuneWords words{"--case", file, "--kb", kb, "--json"};
  const Ran first = tuned(words);
  const Ran second = tuned(words);
  EXPECT_FALSE(first.out.empty());
  EXPECT_EQ(first.out, second.out);
}

TEST(TuneCli, PinsIdeasAndChoicesAreHeeded) {
  const Folder folder;
  const std::string file = folder.write("case.toml", std::string(kCase));
  for (const std::string& mesh : meshes_of(
           tune_answer({"--case", file, "--no-log", "--no-kb", "--pin", "seq=2"})["proposals"])) {
    EXPECT_NE(mesh.find("seq=2"), std::string::npos) << mesh;
  }
  const json ideas = tune_answer(
      {"--case", file, "--no-log", "--no-kb", "--idea", "data=128", "--idea", "model=64"})["ideas"];
  EXPECT_EQ(meshes_of(ideas), (TuneWords{"data=128", "model=64"}));
  EXPECT_EQ(ideas[0]["verdict"]["ruling"], "rejected");
  EXPECT_EQ(ideas[0]["author"], "user");
  const std::string among = folder.write("meshes.txt", "# ours\ndata=16,model=4\nseq=16,model=4\n");
  for (const std::string& mesh : meshes_of(
           tune_answer({"--case", file, "--no-log", "--no-kb", "--among", among})["proposals"])) {
    EXPECT_TRUE(mesh == "data=16,model=4" || mesh == "seq=16,model=4") << mesh;
  }
}

TEST(TuneCli, EachPartCanBeLeftOut) {
  const Folder folder;
  const std::string file = folder.write("case.toml", std::string(kCase));
  const json whole = tune_answer({"--case", file, "--no-log"});
  const json no_kb = tune_answer({"--case", file, "--no-log", "--no-kb"});
  EXPECT_FALSE(whole["proposals"][0]["citations"].empty());
  EXPECT_TRUE(no_kb["proposals"][0]["citations"].empty());
  const auto compared = [](const json& answer) {
    return answer["proposals"][0]["reasoning"]["comparison"].get<std::string>();
  };
  const json no_planner = tune_answer({"--case", file, "--no-log", "--no-planner"});
  EXPECT_NE(compared(whole).find("by the model alone"), std::string::npos);
  EXPECT_EQ(compared(no_planner).find("by the model alone"), std::string::npos);
  const json no_profile = tune_answer({"--case", file, "--no-log", "--no-profile"});
  EXPECT_TRUE(no_profile["proposals"].empty());
  EXPECT_FALSE(no_profile["keep"].is_null());
}

TEST(TuneCli, ACaseGoesToAnotherSlice) {
  const Folder folder;
  const std::string file = folder.write("case.toml", std::string(kCase));
  // v5p-256 counts TensorCores: 128 chips.
  for (const std::string slice : {"4x4x8", "v5p-256"}) {
    const json answer = tune_answer({"--case", file, "--no-log", "--no-kb", "--on", slice});
    for (const json& one : answer["proposals"]) {
      EXPECT_EQ(one["devices"], 128) << slice;
    }
  }
  EXPECT_EQ(tuned({"--case", file, "--on", "8xh100-sxm"}).exit_code, 2);
}

TEST(TuneCli, ASessionIsLoggedShownAndReplayed) {
  const Folder folder;
  const std::string file = folder.write("case.toml", std::string(kCase));
  const std::string kb = (folder.path() / "kb.sqlite").string();
  EXPECT_NE(run_sextant({"tune", "log", "show", "--kb", kb}).out.find("no session was logged"),
            std::string::npos);
  const json answer = tune_answer({"--case", file, "--kb", kb, "--session", "may-14", "--no-kb"});
  EXPECT_EQ(answer["session"], "may-14");
  const json listed = json::parse(run_sextant({"tune", "log", "show", "--kb", kb, "--json"}).out);
  EXPECT_EQ(listed["schema"], "sextant.tune-log/1");
  ASSERT_EQ(listed["sessions"].size(), 1U);
  EXPECT_EQ(listed["sessions"][0]["name"], "may-14");
  const json shown =
      json::parse(run_sextant({"tune", "log", "show", "may-14", "--kb", kb, "--json"}).out);
  std::size_t proposals = 0;
  for (const json& event : shown["events"]) {
    proposals += event["kind"] == "proposal" ? 1U : 0U;
  }
  EXPECT_EQ(proposals, answer["proposals"].size());
  const Ran replayed = run_sextant({"tune", "log", "replay", "may-14", "--kb", kb});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.out << replayed.err;
  EXPECT_NE(replayed.out.find("3 of 3 verdicts are the same today"), std::string::npos)
      << replayed.out;
}

TEST(TuneCli, AReplaySaysThatAFileHasChanged) {
  const Folder folder;
  const std::string file = folder.write("case.toml", std::string(kCase));
  const std::string kb = (folder.path() / "kb.sqlite").string();
  tune_answer({"--case", file, "--kb", kb, "--session", "s", "--no-kb"});
  (void)folder.write("case.toml", std::string(kCase) + "# more\n");
  const Ran replayed = run_sextant({"tune", "log", "replay", "s", "--kb", kb});
  EXPECT_EQ(replayed.exit_code, 1) << replayed.out;
  EXPECT_NE(replayed.out.find("is not what it was"), std::string::npos) << replayed.out;
}

TEST(TuneCli, AJobIsTunedAndItsSessionReplays) {
  const Folder folder;
  const std::string kb = (folder.path() / "kb.sqlite").string();
  const json answer = tune_answer({"llama-3.1-8b", "--on", "8xh100-sxm", "--gbs", "64", "--layout",
                                   "tp=8,mbs=1,recompute=full", "--pin", "cp=1", "--idea", "tp=3",
                                   "--kb", kb, "--session", "job"});
  ASSERT_FALSE(answer["proposals"].empty());
  const json& first = answer["proposals"][0];
  EXPECT_NE(first["verdict"]["ruling"], "rejected");
  EXPECT_LT(first["verdict"]["step_time_after_s"], first["verdict"]["step_time_before_s"]);
  EXPECT_FALSE(first["layout"].is_null());
  const std::string run = first["run"][0].get<std::string>();
  EXPECT_TRUE(run.starts_with("sextant emit llama-3.1-8b --on 8xh100-sxm --layout ")) << run;
  EXPECT_NE(run.find(" --gbs 64 --to megatron"), std::string::npos) << run;  // of this job
  bool idea_is_answered = false;
  for (const char* list : {"proposals", "ideas", "turned_down"}) {
    for (const json& one : answer[list]) {
      idea_is_answered =
          idea_is_answered || (one["author"] == "user" && one["verdict"]["ruling"] == "rejected");
    }
  }
  EXPECT_TRUE(idea_is_answered);  // 3 does not divide 32 heads
  const Ran replayed = run_sextant({"tune", "log", "replay", "job", "--kb", kb});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.out << replayed.err;
}

// 1024 sequences of 4096 are no whole microbatches of three: 1023 are.
TEST(TuneCli, ABatchLeftOutIsTheOneThatEstimateAssumes) {
  const std::string layout = "tp=8,mbs=3,recompute=full";
  const TuneWords job{"llama-3.1-8b", "--on", "8xh100-sxm", "--layout", layout};
  TuneWords estimate = job;
  estimate.insert(estimate.begin(), "estimate");
  estimate.emplace_back("--json");
  const json estimated = json::parse(run_sextant(estimate).out);
  EXPECT_EQ(estimated["global_batch"], 1023);
  TuneWords tune = job;
  tune.insert(tune.end(), {"--pin", "tp=8,pp=1,cp=1,mbs=3", "--no-log", "--no-kb"});
  const json answer = tune_answer(tune);
  std::string batch;
  for (const json& fact : answer["analysis"]["experiment"]) {
    if (fact["key"] == "gbs") {
      batch = fact["value"].get<std::string>();
    }
  }
  EXPECT_EQ(batch, "1023");
}

TEST(TuneCli, ARunAloneIsAnalysedAndNoLayoutIsProposed) {
  const Folder folder;
  const std::string file = folder.write("rank0.json", made_trace({.world = 2}));
  const Ran ran = tuned({"--trace", file, "--no-log", "--no-kb", "--json"});
  ASSERT_TRUE(ran.exit_code == 0 || ran.exit_code == 1) << ran.err;
  const json answer = json::parse(ran.out);
  for (const json& one : answer["proposals"]) {
    EXPECT_TRUE(one["change"]["layout"].is_null());
  }
  EXPECT_FALSE(answer["analysis"]["settled"]["why"].get<std::string>().empty());
}

TEST(TuneCli, AFolderOfAnExperimentIsTakenApart) {
  const Folder folder;
  (void)folder.write("job/train.sh",
                     "torchrun --nproc_per_node 8 --nnodes 1 pretrain_gpt.py "
                     "--tensor-model-parallel-size 8 --num-layers 32 --hidden-size 4096 "
                     "--num-attention-heads 32 --group-query-attention --num-query-groups 8 "
                     "--ffn-hidden-size 14336 --swiglu --seq-length 4096 "
                     "--max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 64 "
                     "--vocab-size 128256 --bf16 --untie-embeddings-and-output-weights\n");
  (void)folder.write("job/notes.txt", "of May");
  (void)folder.write("job/rank0.pt.trace.json", made_trace({.world = 2}));
  const Ran ran = tuned({"--from", (folder.path() / "job").string(), "--on", "h100-sxm", "--pin",
                         "cp=1,mbs=1", "--no-log", "--no-kb", "--json"});
  ASSERT_TRUE(ran.exit_code == 0 || ran.exit_code == 1) << ran.err;
  EXPECT_NE(ran.err.find("left out: notes.txt"), std::string::npos) << ran.err;
  const json answer = json::parse(ran.out);
  bool is_sourced = false;
  for (const json& fact : answer["analysis"]["experiment"]) {
    is_sourced =
        is_sourced || (fact["source"].is_string() &&
                       fact["source"].get<std::string>().find("train.sh:1") != std::string::npos);
  }
  EXPECT_TRUE(is_sourced);
}

TEST(TuneCli, HostileNamesAreShownAsText) {
  const Folder folder;
  std::string text(kCase);
  const std::string name = "fusion.1";
  text.replace(text.find(name), name.size(), "<script>\\u001b[31m\\u009b31m \\u202eevil");
  const std::string file = folder.write("case.toml", text);
  for (const std::string format : {"table", "md", "csv"}) {
    const Ran ran = tuned({"--case", file, "--no-log", "--no-kb", "--verbose", "-o", format});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out.find('\x1b'), std::string::npos);
    EXPECT_EQ(ran.out.find("\xC2\x9B"), std::string::npos);
    EXPECT_EQ(ran.out.find("\xE2\x80\xAE"), std::string::npos);
    EXPECT_TRUE(format != "md" || ran.out.find("<script") == std::string::npos);
  }
}

TEST(TuneCli, AFactThatSeveralLinesOfAScriptSayIsShownOnce) {
  const Folder folder;
  const std::string file = folder.write(
      "train.sh",
      "GPUS=8\nexport WORLD_SIZE=8\ntorchrun --nproc_per_node 8 --nnodes 1 pretrain_gpt.py "
      "--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 "
      "--group-query-attention --num-query-groups 8 --seq-length 4096 "
      "--max-position-embeddings 4096 --swiglu --untie-embeddings-and-output-weights "
      "--vocab-size 128256 --tensor-model-parallel-size 8 --micro-batch-size 1 "
      "--global-batch-size 64 --bf16\n");
  const Ran ran =
      tuned({"--from", file, "--on", "8xh100-sxm", "--no-log", "--no-planner", "--no-kb"});
  const std::size_t first = ran.out.find("devices 8;");
  ASSERT_NE(first, std::string::npos) << ran.out << ran.err;
  EXPECT_EQ(ran.out.find("devices 8;", first + 1), std::string::npos) << ran.out;
}

TEST(TuneCli, WhatIsWrongIsSaid) {
  const Folder folder;
  const std::string file = folder.write("case.toml", std::string(kCase));
  std::string served(kCase);
  served.replace(served.find("\"training\""), 10, "\"serving\"");
  const std::string serving = folder.write("serving.toml", served);
  const std::string empty = folder.write("empty.txt", "# nothing\n");
  const std::vector<std::pair<TuneWords, std::string>> wrong{
      {{}, "there is nothing to tune"},
      {{"--case", "no/such.toml"}, "no/such.toml"},
      {{"--case", serving}, "serving is out of scope"},
      {{"llama-3.1-8b", "--on", "8xh100-sxm", "--workload", "forward"}, "serving"},
      {{"--case", file, "--top", "none"}, "--top"},
      {{"--case", file, "--layout", "tp=8"}, "--layout"},
      {{"llama-3.1-8b", "--on", "8xh100-sxm", "--pin", "foo=1"}, "--pin: 'foo'"},
      {{"--case", file, "--trace", file}, "--trace"},
      {{"--case", file, "--pin", "recompute=none"}, "recompute"},
      {{"--case", file, "--idea", "tensor=4"}, "tensor"},
      {{"--case", file, "--among", empty}, "nothing to choose among"},
      {{"llama-3.1-8b", "--on", "8xh100-sxm", "--pin", "tq=8"}, "tq"},
      {{"llama-3.1-8b"}, "--on"},
      {{"llama-3.1-8b", "show"}, "has nothing after it"},
      {{"log"}, "show"},
      {{"log", "burn"}, "burn"},
      {{"log", "replay"}, "sessions are named"},
      {{"log", "show", "no-such", "--kb", (folder.path() / "none.sqlite").string()},
       "no session 'no-such'"},
      {{"log", "show", "--case", file}, "is not taken"}};
  for (const auto& [words, what] : wrong) {
    TuneWords asked = words;
    if (words.empty() || words.front() != "log") {
      asked.emplace_back("--no-kb");
    }
    const Ran ran = tuned(asked);
    EXPECT_EQ(ran.exit_code, 2) << what << ran.out;
    EXPECT_NE(ran.err.find(what), std::string::npos) << ran.err;
  }
}

// The published cases as a user would give them; never part of the project.
TEST(TuneCli, ThePublishedCasesAreAnswered) {
  const std::filesystem::path cases = shared_folder() / "cases";
  if (!std::filesystem::exists(cases)) {
    GTEST_SKIP() << "no published cases beside the checkout: " << cases;
  }
  for (const std::string name : {"case1.toml", "case2.toml", "case3.toml", "case4.toml"}) {
    const json answer = tune_answer({"--case", (cases / name).string(), "--no-log", "--no-kb"});
    EXPECT_EQ(answer["proposals"].size(), 3U) << name;
  }
}

}  // namespace
}  // namespace sextant::tests
