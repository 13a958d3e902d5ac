#include "http/lines.h"

#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "http/sse.h"

namespace sextant::http {
namespace {

// The lines of the pieces, with "!" for an Error.
std::vector<std::string> lines_of(const std::vector<std::string>& pieces, std::size_t longest) {
  LineSplitter splitter(longest);
  std::vector<std::string> lines;
  const auto take = [&](std::string_view line) {
    lines.emplace_back(line);
    return Result<void>();
  };
  for (const std::string& piece : pieces) {
    if (!splitter.feed(piece, take)) {
      lines.emplace_back("!");
      return lines;
    }
  }
  EXPECT_TRUE(splitter.end(take));
  return lines;
}

TEST(Lines, EachOfThreeEndsEndsOne) {
  EXPECT_EQ(lines_of({"a\nb\r\nc\rd"}, 9), (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_EQ(lines_of({"a\r", "\n\nb\n"}, 9), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_TRUE(lines_of({""}, 9).empty());
}

TEST(Lines, OneThatIsTooLongIsAnErrorBeforeItIsHeld) {
  EXPECT_EQ(lines_of({"12345\n123456"}, 5), (std::vector<std::string>{"12345", "!"}));
  EXPECT_EQ(lines_of({"123", "456"}, 5), (std::vector<std::string>{"!"}));
}

TEST(Lines, WhoTakesThemMayEndIt) {
  LineSplitter splitter(9);
  const auto none = [](std::string_view) -> Result<void> { return external("enough"); };
  EXPECT_FALSE(splitter.feed("a\nb\n", none));
}

RC_GTEST_PROP(Lines, HowTheBytesComeMakesNoDifference, (const std::vector<bool>& cuts)) {
  const std::string text = "data: x\r\n\r\n: note\rdata:y\n\n\r\n\rend";
  std::vector<std::string> pieces{""};
  for (std::size_t i = 0; i < text.size(); ++i) {
    pieces.back() += text[i];
    if (i < cuts.size() && cuts[i]) {
      pieces.emplace_back();
    }
  }
  RC_ASSERT(lines_of(pieces, 100) == lines_of({text}, 100));
}

std::vector<std::string> events_of(std::string_view text) {
  EventReader reader;
  LineSplitter lines(100);
  std::vector<std::string> events;
  const auto take_event = [&](const ServerEvent& event) {
    events.push_back(event.name + "|" + event.data + "|" + event.id);
    return Result<void>();
  };
  const auto take = [&](std::string_view line) { return reader.feed(line, take_event); };
  EXPECT_TRUE(lines.feed(text, take));
  EXPECT_TRUE(lines.end(take));
  return events;
}

TEST(ServerEvents, TheStandardsOwnExamplesAreRead) {
  // HTML standard, section 9.2.6.
  EXPECT_EQ(events_of("data: YHOO\ndata: +2\ndata: 10\n\n"),
            (std::vector<std::string>{"|YHOO\n+2\n10|"}));
  EXPECT_EQ(events_of(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n"
                      "data:  third event\n\n"),
            (std::vector<std::string>{"|first event|1", "|second event|", "| third event|"}));
  EXPECT_EQ(events_of("data\n\ndata\ndata\n\ndata:"), (std::vector<std::string>{"||", "|\n|"}));
}

TEST(ServerEvents, WhatIsCutOffOrHasNoDataIsNone) {
  EXPECT_TRUE(events_of("event: x\n\n").empty());
  EXPECT_TRUE(events_of("data: not whole\n").empty());
}

TEST(ServerEvents, WhatIsWrittenIsReadAgain) {
  const ServerEvent event{.name = "delta", .data = "{\"a\":1}\nb", .id = "7"};
  EXPECT_EQ(events_of(to_text(event)), (std::vector<std::string>{"delta|{\"a\":1}\nb|7"}));
  // Nothing that is in a field begins another one.
  EXPECT_EQ(events_of(to_text({.name = "a\ndata: b", .data = "c\rid: 9"})),
            (std::vector<std::string>{"a|c\nid: 9|"}));
}

}  // namespace
}  // namespace sextant::http
