// kb as generic callers see it: built-in content without a file, own entries added and exported.
#include "app/kb_command.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "app/testing.h"
#include "app/use_case.h"
#include "base/scratch_folder_testing.h"

namespace sextant::app {
namespace {

constexpr explain::Style kText{};
constexpr explain::Style kJsonStyle{explain::Format::kJson, false};

Result<Reply> asked_kb(const Values& values) {
  return ask(*find_use_case("kb"), values, megatron_context());
}

std::string answered_kb(const Values& values, const explain::Style& style = kText) {
  const auto reply = asked_kb(values);
  return reply ? reply->text(style) : (ADD_FAILURE() << to_text(reply.error()), std::string());
}

Values added_note(const std::string& file, std::string_view title) {
  return {{"action", "add"}, {"kb", file},         {"title", title},
          {"source", "us"},  {"advice", "Do it."}, {"at", "2026-01-02T03:04:05Z"}};
}

TEST(Kb, AnswersOfTheBuiltInContentWithoutAFile) {
  const ScratchFolder folder;
  const std::string file = (folder.path() / "none.sqlite").string();
  const std::string found = answered_kb(
      {{"action", "search"}, {"what", "exposed tensor parallel"}, {"kb", file}}, kJsonStyle);
  EXPECT_NE(found.find("\"schema\": \"sextant.kb/1\""), std::string::npos);
  EXPECT_NE(found.find("\"terms\""), std::string::npos);
  EXPECT_NE(answered_kb({{"action", "show"}, {"what", "interleave-stages"}, {"kb", file}})
                .find("Interleave stages"),
            std::string::npos);
  EXPECT_EQ(answered_kb({{"action", "export"}, {"kb", file}}), "");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Kb, WhatIsExportedIsAddedBackTheSame) {
  const ScratchFolder folder;
  const std::string first = (folder.path() / "first.sqlite").string();
  EXPECT_EQ(answered_kb(added_note(first, "Ours, of May")), "ours-of-may: added\n");
  EXPECT_EQ(answered_kb(added_note(first, "Ours, of May")), "ours-of-may: was there already\n");
  const std::string toml = answered_kb({{"action", "export"}, {"kb", first}});
  EXPECT_NE(toml.find("added_at = \"2026-01-02T03:04:05Z\""), std::string::npos);
  const std::string second = (folder.path() / "second.sqlite").string();
  const std::string exported = folder.write("ours.toml", toml);
  EXPECT_EQ(answered_kb({{"action", "add"},
                         {"what", exported},
                         {"kb", second},
                         {"by", "another"},
                         {"at", "2027-01-01T00:00:00Z"}}),
            "ours-of-may: added\n");
  EXPECT_EQ(answered_kb({{"action", "export"}, {"kb", second}}), toml);
  EXPECT_NE(answered_kb({{"action", "list"}, {"own", ""}, {"kb", second}}).find("ours-of-may"),
            std::string::npos);
}

TEST(Kb, BuiltInEntriesAreExportedByNameAndReadBack) {
  const std::string toml = answered_kb({{"action", "export"},
                                        {"what", "torchtitan-async-tp-overlap-1"},
                                        {"what", "interleave-stages"}});
  const auto read = kb::parse_entries(toml, "again.toml");
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(read->size(), 2U);
}

TEST(Kb, WhatIsHostileIsShownAsText) {
  const ScratchFolder folder;
  const std::string file = (folder.path() / "kb.sqlite").string();
  ASSERT_TRUE(asked_kb(added_note(file,
                                  "<script>\x1b[31m\xC2\x9B"
                                  "31m \xE2\x80\xAE"
                                  "evil")));
  const std::vector<std::string> shown{
      answered_kb({{"action", "list"}, {"own", ""}, {"kb", file}}),
      answered_kb({{"action", "show"}, {"what", "script-31m-31m-evil"}, {"kb", file}}),
      answered_kb({{"action", "search"}, {"what", "evil script"}, {"kb", file}})};
  for (const std::string& text : shown) {
    EXPECT_NE(text.find("<script>\\x1b[31m?31m ?evil"), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
  }
  EXPECT_EQ(answered_kb({{"action", "list"}, {"own", ""}, {"kb", file}}, explain::kMarkdown)
                .find("<script"),
            std::string::npos);
}

TEST(Kb, ErrorsSayWhatIsAllowed) {
  const ScratchFolder folder;
  const std::string file = (folder.path() / "kb.sqlite").string();
  const std::vector<std::pair<Values, std::string>> wrong{
      {{{"action", "search"}}, "nothing is asked"},
      {{{"action", "search"}, {"what", "x"}, {"limit", "0"}}, "'0' entries"},
      {{{"action", "search"}, {"bottlenecks", "luck"}}, "luck"},
      {{{"action", "search"}, {"what", "x"}, {"trust", "a"}}, "‹trust› is not taken"},
      {{{"action", "list"}, {"what", "x"}}, "‹what› is not taken"},
      {{{"action", "show"}, {"what", "x"}, {"trust", "a"}}, "‹trust› is not taken"},
      {{{"action", "show"}}, "no entry is named"},
      {{{"action", "show"}, {"what", "interleave-stage"}}, "did you mean interleave-stages"},
      {{{"action", "add"}, {"kb", file}}, "nothing to add"},
      {{{"action", "add"}, {"kb", file}, {"title", "t"}, {"advice", "a"}}, "no source"},
      {{{"action", "add"}, {"what", "no/such.toml"}, {"kb", file}}, "can't be opened"},
      {{{"action", "add"}, {"title", "t"}, {"source", "s"}, {"advice", "a"}},
       "where the knowledge base is"},
      {{{"action", "add"},
        {"title", "Interleave stages"},
        {"source", "s"},
        {"advice", "a"},
        {"kb", file},
        {"at", "2026"}},
       "comes with the program"},
      {{{"action", "burn"}}, "burn"}};
  for (const auto& [values, what] : wrong) {
    const auto reply = asked_kb(values);
    ASSERT_FALSE(reply) << what;
    EXPECT_NE(to_text(reply.error()).find(what), std::string::npos) << to_text(reply.error());
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace sextant::app
