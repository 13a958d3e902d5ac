// `sextant tune` with a language model beside, as a user meets it: the built program and a scripted
// model over real HTTP.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "llm/protocol.h"
#include "llm/scripted_model_testing.h"
#include "run_program.h"

namespace sextant::tests {
namespace {

using llm::Fault;
using llm::ScriptedModel;
using nlohmann::json;
using LlmArguments = std::vector<std::string>;

// It does not look like a key, so that no filter of looks hides it.
const std::string kPlanted = "planted.a1b2c3d4e5f6a7b8";

// Without planner and knowledge base: what is tested is beside them, and they take their time.
Ran tuned_beside(const ScriptedModel& model, LlmArguments more, const std::string& input = {}) {
  LlmArguments words{"tune",         "llama-3.2-1b",
                     "--on",         "8xh100-sxm",
                     "--layout",     "tp=8,mbs=1,recompute=full",
                     "--gbs",        "64",
                     "--seq",        "4096",
                     "--no-planner", "--no-kb",
                     "--llm",        http::to_text(model.url()),
                     "--llm-model",  "scripted"};
  words.insert(words.end(), more.begin(), more.end());
  Ran ran = run_sextant(words, input, {"SEXTANT_LLM_KEY=" + kPlanted});
  EXPECT_EQ(ran.out.find(kPlanted), std::string::npos) << ran.out;
  EXPECT_EQ(ran.err.find(kPlanted), std::string::npos) << ran.err;
  return ran;
}

json answer_beside(const ScriptedModel& model, LlmArguments more) {
  more.insert(more.end(), {"--no-log", "--json"});
  const Ran ran = tuned_beside(model, std::move(more));
  EXPECT_LE(ran.exit_code, 1) << ran.err;
  return ran.out.empty() ? json() : json::parse(ran.out);
}

std::string proposing(const std::string& layout) {
  return R"({"summary": "less is recomputed on llama-3.2-1b", "proposals": [{"title": "no recomputation",
             "layout": ")" +
         layout + R"(", "claims": ["step lower"]}]})";
}

TEST(TuneLlmCli, WhatTheModelAddsIsShownWithItsVerdict) {
  for (const auto& [protocol, word] : llm::kProtocolWords) {
    const ScriptedModel model({{.calls = {{"1", "estimate", R"({"layout": "recompute=none"})"}}},
                               {.text = proposing("recompute=none,mbs=2")}});
    const json answer = answer_beside(model, {"--llm-protocol", std::string(word)});
    ASSERT_TRUE(answer["model"].is_object()) << answer.dump(1);
    ASSERT_EQ(answer["model"]["added"].size(), 1U);
    EXPECT_EQ(answer["model"]["added"][0]["verdict"]["ruling"], "accepted");
    EXPECT_NE(answer["engine"].get<std::string>().find("scripted"), std::string::npos);
    EXPECT_TRUE(answer["fallback"].is_null());
    EXPECT_EQ(model.seen().size(), 2U);
    EXPECT_TRUE(model.seen()[0].path.ends_with(llm::path_of(protocol)));
    EXPECT_EQ(model.all_bodies().find(kPlanted), std::string::npos);
  }
}

TEST(TuneLlmCli, WithTheEndpointDownTheBuiltInStandsAloneAndSaysSo) {
  const ScriptedModel up({}, {.text = R"({"summary": "", "proposals": []})"});
  const json with = answer_beside(up, {});
  const ScriptedModel down({}, {.fault = Fault::kRefusesKey});
  const json without = answer_beside(down, {});
  EXPECT_EQ(without["engine"], "built-in");
  EXPECT_NE(without["fallback"].get<std::string>().find("401"), std::string::npos);
  EXPECT_EQ(without["proposals"], with["proposals"]);
  const Ran text = tuned_beside(down, {"--no-log"});
  EXPECT_NE(text.out.find("401"), std::string::npos) << text.out;
}

TEST(TuneLlmCli, ADryRunShowsTheRequestAndSendsNothing) {
  const ScriptedModel model({});
  const Ran ran = tuned_beside(model, {"--no-log", "--dry-run-llm"});
  EXPECT_NE(ran.out.find("POST http://127.0.0.1:"), std::string::npos) << ran.err;
  EXPECT_NE(ran.out.find("Authorization: Bearer [key]"), std::string::npos);
  EXPECT_NE(ran.out.find("\"messages\":[{\"role\":\"system\""), std::string::npos);
  EXPECT_TRUE(model.seen().empty());
  // What is shown is what is sent.
  const ScriptedModel real({}, {.text = R"({"summary": "", "proposals": []})"});
  static_cast<void>(tuned_beside(real, {"--no-log"}));
  ASSERT_FALSE(real.seen().empty());
  EXPECT_NE(ran.out.find(real.seen()[0].body), std::string::npos);
}

TEST(TuneLlmCli, MaskedNamesStayAtHome) {
  const ScriptedModel model({}, {.text = R"({"summary": "name_1 is slow", "proposals": []})"});
  const json answer = answer_beside(model, {"--mask"});
  EXPECT_EQ(answer["model"]["summary"], "llama-3.2-1b is slow");
  EXPECT_EQ(model.all_bodies().find("llama-3.2-1b"), std::string::npos);
  EXPECT_EQ(model.all_bodies().find("8xh100-sxm"), std::string::npos);
}

TEST(TuneLlmCli, NoSecretIsInTheLogOfTheSession) {
  const Folder folder;
  const std::string file = (folder.path() / "kb.sqlite").string();
  const ScriptedModel model({{.text = "the key is " + kPlanted,
                              .calls = {{"1", "estimate", "{\"layout\": \"" + kPlanted + "\"}"}}},
                             {.text = proposing("recompute=none")},
                             {.fault = Fault::kBroken}});
  const Ran ran = tuned_beside(model, {"--kb", file});
  EXPECT_LE(ran.exit_code, 1) << ran.err;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_EQ(content(entry.path()).find(kPlanted), std::string::npos) << entry.path();
  }
  EXPECT_NE(content(file).find("model scripted"), std::string::npos);
}

TEST(TuneLlmCli, QuestionsAreAnswered) {
  const ScriptedModel model({{.text = R"({"summary": "first", "proposals": []})"},
                             {.text = R"({"summary": "memory", "proposals": []})"},
                             {.text = R"({"summary": "because", "proposals": []})"}});
  const Ran ran = tuned_beside(model, {"--no-log", "--ask", "why not tp=2?", "--interactive"},
                               "and mbs=4?\n\n");
  EXPECT_NE(ran.out.find("why not tp=2?"), std::string::npos) << ran.err;
  EXPECT_NE(ran.out.find("memory"), std::string::npos);
  EXPECT_NE(ran.out.find("and mbs=4?"), std::string::npos);
  EXPECT_NE(ran.out.find("because"), std::string::npos);
}

// With the knowledge base, which tuned_beside goes without.
json searched_beside(const ScriptedModel& model, const std::string& kb, LlmArguments more = {}) {
  LlmArguments words{"tune",
                     "llama-3.2-1b",
                     "--on",
                     "8xh100-sxm",
                     "--layout",
                     "tp=8,mbs=1",
                     "--no-planner",
                     "--kb",
                     kb,
                     "--llm",
                     http::to_text(model.url()),
                     "--json",
                     "--llm-model",
                     "scripted",
                     "--llm-embeddings",
                     "vectors"};
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = run_sextant(words, "", {"SEXTANT_LLM_KEY=" + kPlanted});
  EXPECT_LE(ran.exit_code, 1) << ran.err;
  return ran.out.empty() ? json() : json::parse(ran.out);
}

std::size_t embedding_requests(const ScriptedModel& model) {
  std::size_t count = 0;
  for (const llm::SeenRequest& one : model.seen()) {
    count += one.path.ends_with("/embeddings") ? 1 : 0;
  }
  return count;
}

TEST(TuneLlmCli, TheKnowledgeBaseIsSearchedByMeaningToo) {
  const Folder folder;
  const std::string kb = (folder.path() / "kb.sqlite").string();
  const llm::Line searches{.calls = {{"1", "search", R"({"words": "idle pipeline"})"}}};
  const llm::Line ends{.text = R"({"summary": "", "proposals": []})"};
  const auto meaning = llm::meaning_of_words([](const std::string& word) { return word; });
  const ScriptedModel first({searches}, ends, meaning);
  const json answer = searched_beside(first, kb);
  EXPECT_TRUE(answer["model"]["retrieval"].get<std::string>().starts_with(
      "by words and by meaning (vectors: "))
      << answer["model"].dump(1);
  EXPECT_GT(embedding_requests(first), 2U);
  // What is known is not sent again: the question alone is.
  const ScriptedModel second({searches}, ends, meaning);
  searched_beside(second, kb);
  EXPECT_EQ(embedding_requests(second), 1U);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_EQ(content(entry.path()).find(kPlanted), std::string::npos) << entry.path();
  }
  const ScriptedModel without({searches}, ends);
  const std::string alone = searched_beside(without, kb)["model"]["retrieval"];
  EXPECT_TRUE(alone.starts_with("by words alone: ")) << alone;
}

TEST(TuneLlmCli, CommandsReadWhatTheUserNamedAndNothingElse) {
  const Folder folder;
  const std::string other = (folder.path() / "other.sh").string();
  ASSERT_TRUE(write_file(other,
                         "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 "
                         "--hidden-size 4096 --num-attention-heads 32 --global-batch-size 7919\n"));
  const auto check = [](const std::string& id, const std::string& file) {
    return llm::ToolCall{id, "command",
                         R"({"name": "check", "arguments": {"file": [")" + file + R"("]}})"};
  };
  const std::vector<llm::Line> script{
      {.calls = {{"1", "command", R"({"name": "model", "arguments": {"model": "llama-3.1-8b"}})"},
                 check("2", other),
                 check("3", "/etc/passwd")}}};
  const llm::Line ends{.text = R"({"summary": "", "proposals": []})"};
  const ScriptedModel model(script, ends);
  answer_beside(model, {});
  const std::string said = model.all_bodies();
  EXPECT_NE(said.find("8,030,261,248 parameters"), std::string::npos);
  EXPECT_NE(said.find("outside what may be read here"), std::string::npos);
  EXPECT_EQ(said.find("7919"), std::string::npos);
  EXPECT_EQ(said.find("root:"), std::string::npos);
  const ScriptedModel allowed(script, ends);
  answer_beside(allowed, {"--llm-root", folder.path().string()});
  EXPECT_NE(allowed.all_bodies().find("7919"), std::string::npos) << allowed.all_bodies();
}

TEST(TuneLlmCli, WordsAboutAModelThatMakeNoSenseAreErrors) {
  const std::vector<std::pair<LlmArguments, std::string>> cases{
      {{"--llm", "ftp://x", "--llm-model", "m"}, "http://"},
      {{"--llm", "http://localhost:1"}, "--llm-model"},
      {{"--llm", "http://me:word@localhost:1", "--llm-model", "m"}, "SEXTANT_LLM_KEY"},
      {{"--llm", "https://h/v1?api_key=" + kPlanted, "--llm-model", "m"}, "SEXTANT_LLM_KEY"},
      {{"--llm", "http://localhost:1", "--llm-model", "m", "--llm-budget", "1USD"}, "--llm-price"},
      {{"--llm", "http://localhost:1", "--llm-model", "m", "--llm-protocol", "soap"}, "chat"},
      {{"--mask"}, "--llm"},
      {{"--llm", "http://gpu-box:8000", "--llm-model", "m"}, "in the clear"}};
  for (const auto& [words, said] : cases) {
    LlmArguments all{"tune", "llama-3.2-1b", "--on", "8xh100-sxm", "--no-log"};
    all.insert(all.end(), words.begin(), words.end());
    const Ran ran = run_sextant(all, "", {"SEXTANT_LLM_KEY=" + kPlanted});
    EXPECT_EQ(ran.exit_code, 2) << ran.err << said;
    EXPECT_NE(ran.err.find(said), std::string::npos) << ran.err;
    EXPECT_EQ(ran.err.find(":word@"), std::string::npos) << ran.err;
    EXPECT_EQ(ran.err.find(kPlanted), std::string::npos);
  }
}

}  // namespace
}  // namespace sextant::tests
