// The commands that a language model may have answered beside tune: all that reads, nothing else.
#include "app/llm_commands.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "app/testing.h"
#include "app/tool_table.h"
#include "base/file.h"
#include "base/read_fence.h"
#include "base/scratch_folder_testing.h"

namespace sextant::app {
namespace {

const Context& command_context() {
  static const Context kContext = megatron_context();
  return kContext;
}

agents::LlmCommands commands(bool knows = true) {
  static const Control kControl;
  return llm_commands(command_context(), kControl, "model m", knows);
}

bool is_listed(const agents::LlmCommands& all, std::string_view name) {
  return std::ranges::find(all.list, name, &agents::LlmCommand::name) != all.list.end();
}

TEST(LlmCommands, AreTheToolsOfAssistantsButWhatWrites) {
  const agents::LlmCommands all = commands();
  for (const ToolRow& row : tool_rows()) {
    EXPECT_EQ(is_listed(all, row.name), !row.writes) << row.name;
  }
  EXPECT_GE(all.list.size(), 17U);
  EXPECT_FALSE(is_listed(all, "kb_add"));
  EXPECT_FALSE(commands().run("kb_add", R"({"title": "x"})"));
  EXPECT_FALSE(commands().run("calibrate", "{}"));
}

TEST(LlmCommands, EachSaysWhatItTakesWithoutMarks) {
  const agents::LlmCommands all = commands();
  for (const agents::LlmCommand& one : all.list) {
    const auto help = all.help(one.name);
    ASSERT_TRUE(help) << to_text(help.error());
    EXPECT_NE(help->find("- "), std::string::npos) << one.name;
    EXPECT_EQ(help->find("‹"), std::string::npos) << *help;
    EXPECT_EQ(help->find("llm"), std::string::npos) << *help;
    EXPECT_EQ(help->find("a file to write"), std::string::npos) << *help;
  }
}

TEST(LlmCommands, EachAnswersAsTheCommandDoes) {
  const std::string job = R"("model": "llama-3.1-8b", "on": "8xh100-sxm", "gbs": 64)";
  const std::vector<std::pair<std::string, std::string>> asked{
      {"model", R"({"model": "llama-3.1-8b"})"},
      {"cluster", R"({"cluster": "8xh100-sxm"})"},
      {"memory", "{" + job + R"(, "layout": "tp=2"})"},
      {"plan", "{" + job + R"(, "fix": "pp=1,tp=2", "top": 1})"},
      {"estimate", "{" + job + R"(, "layout": "tp=2"})"},
      {"compare", R"({"model": "llama-3.1-8b", "on": ["8xh100-sxm"], "gbs": 64,
                      "layout": ["tp=2", "tp=4"]})"},
      {"explain", R"({"topic": "KV-HEADS-TP"})"},
      {"traffic", "{" + job + R"(, "layout": "tp=2"})"},
      {"emit", "{" + job + R"(, "layout": "tp=2"})"},
      {"tune", "{" + job + R"(, "layout": "tp=2", "no-planner": true})"},
      {"kb_search", R"({"what": ["pipeline bubble"], "limit": 2})"},
      {"verify_proposal", "{" + job + R"(, "layout": "tp=2", "change": "tp=4",
                                         "claim": ["step lower"]})"}};
  for (const auto& [name, arguments] : asked) {
    const auto answer = commands().run(name, arguments);
    ASSERT_TRUE(answer) << name << ": " << to_text(answer.error());
    EXPECT_GT(answer->size(), 40U) << name;
    EXPECT_EQ(answer->find("‹"), std::string::npos) << *answer;
  }
}

TEST(LlmCommands, WithoutAKnowledgeBaseNoneIsAsked) {
  EXPECT_FALSE(is_listed(commands(false), "kb_search"));
  EXPECT_FALSE(commands(false).run("kb_search", R"({"what": ["bubble"]})"));
  EXPECT_TRUE(commands().run("kb_search", R"({"what": ["bubble"]})"));
}

TEST(LlmCommands, NoneAsksALanguageModelWritesAFileOrNamesTheUsersState) {
  const std::string job = R"("model": "llama-3.1-8b", "on": "8xh100-sxm", "layout": "tp=2")";
  for (const char* more :
       {R"("llm": "http://127.0.0.1:9")", R"("kb": "x.sqlite")", R"("session": "s")"}) {
    const auto answer = commands().run("tune", "{" + job + ", " + more + "}");
    ASSERT_FALSE(answer) << more;
    EXPECT_NE(answer.error().what.find("is no argument"), std::string::npos);
  }
  const auto written = commands().run("traffic", "{" + job + R"(, "heat-map": "x.png"})");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().what, "nothing is written here");
}

TEST(LlmCommands, OnlyFilesThatTheFenceHoldsAreRead) {
  const ScratchFolder scratch;
  ASSERT_TRUE(write_file(scratch.path() / "mine.sh", "torchrun x.py --secret-word\n"));
  ASSERT_TRUE(write_file(scratch.path() / "other.sh", "torchrun y.py --secret-word\n"));
  const ReadFence fence({scratch.path() / "mine.sh"});
  const auto check = [&](const std::string& name) {
    return commands().run("check", R"({"file": [")" + (scratch.path() / name).string() + R"("]})");
  };
  const auto other = check("other.sh");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().what.find("outside"), std::string::npos);
  const auto mine = check("mine.sh");
  EXPECT_TRUE(mine || mine.error().what.find("outside") == std::string::npos);
  EXPECT_FALSE(commands().run("check", R"({"file": ["/etc/passwd"]})"));
  EXPECT_FALSE(commands().run("check", R"({"file": ["-"]})"));
}

TEST(LlmCommands, ForeignArgumentsAreErrors) {
  for (const char* arguments : {"", "7", "[]", "{", R"({"gbs": {"a": 1}})", R"({"gbs": true})",
                                R"({"model": "a\u0000b"})", R"({"nonsense": 1})"}) {
    EXPECT_FALSE(commands().run("estimate", arguments)) << arguments;
  }
}

}  // namespace
}  // namespace sextant::app
