#include "app/tune_session.h"

#include <gtest/gtest.h>

#include "app/testing.h"
#include "base/scratch_folder_testing.h"

namespace sextant::app {
namespace {

TEST(TuneSession, AStartIsReadBackAsItWas) {
  const std::vector<SessionStart> starts{
      {},
      {.words = {{"case", "case.toml"}, {"idea", "a=1,b=2"}}, .inputs = {{"case.toml", "00ff"}}},
      {.words = {{"case", "tab\there\nand\r%41\x7F\x01"}, {"", ""}}, .inputs = {{"ü\n", "x\t"}}}};
  for (const SessionStart& start : starts) {
    EXPECT_EQ(parse_start(start_text(start)), start) << start_text(start);
  }
}

TEST(TuneSession, WhatIsNoStartIsNone) {
  for (const std::string text : {"", "tun", "tuned\n", "plan, at most 5", "tune\ngiven\ta%4\tb\n",
                                 "tune\ngiven\ta%zz\tb\n", "tune\ngiven\t%\tb"}) {
    EXPECT_FALSE(parse_start(text)) << text;
  }
  EXPECT_EQ(parse_start("tune\nsomething\nelse\ta\n"), SessionStart{});
}

TEST(TuneSession, TheSameQuestionHasTheSameName) {
  const SessionStart one{.words = {{"case", "a"}}, .inputs = {{"a", "1"}}};
  SessionStart other = one;
  EXPECT_EQ(session_name(one), session_name(other));
  other.inputs.front().second = "2";
  EXPECT_NE(session_name(one), session_name(other));
}

TEST(TuneSession, EventsAreKeptInTheirOrder) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder.path() / "kb.sqlite";
  {
    SessionLog log(file, "s", "2026-01-02T03:04:05Z", true);
    log.note(kb::EventKind::kToolCall, "one");
    log.note(kb::EventKind::kReply, "two");
    EXPECT_EQ(log.name(), "s");
    EXPECT_EQ(log.failure(), "");
  }
  auto log = kb::Log::open(file, kb::Access::kRead);
  ASSERT_TRUE(log);
  std::vector<std::string> texts;
  ASSERT_TRUE(
      log->replay("s", [&texts](const kb::LoggedEvent& one) { texts.push_back(one.event.text); }));
  EXPECT_EQ(texts, (std::vector<std::string>{"one", "two"}));
}

TEST(TuneSession, WithoutAFileOrAWishNothingIsWritten) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder.path() / "kb.sqlite";
  SessionLog unwanted(file, "s", "2026-01-02T03:04:05Z", false);
  unwanted.note(kb::EventKind::kReply, "x");
  SessionLog nowhere({}, "s", "2026-01-02T03:04:05Z", true);
  nowhere.note(kb::EventKind::kReply, "x");
  EXPECT_EQ(unwanted.name(), "");
  EXPECT_EQ(nowhere.name(), "");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(TuneSession, AFileThatIsNoneStopsTheLogAndNotTheSession) {
  const ScratchFolder folder;
  SessionLog log(folder.write("kb.sqlite", "no database"), "s", "2026-01-02T03:04:05Z", true);
  log.note(kb::EventKind::kReply, "x");
  EXPECT_EQ(log.name(), "");
  EXPECT_NE(log.failure(), "");
}

}  // namespace
}  // namespace sextant::app
