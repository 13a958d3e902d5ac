#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/shown_text.h"
#include "explain/text_table.h"
#include "explain/tune_json.h"
#include "explain/tune_sections.h"
#include "explain/tune_view.h"

namespace sextant::explain {
namespace {

constexpr std::size_t kMostLogCell = 400;

Table sessions_table(const TuneLogAnswer& answer, const Style& style) {
  Table table{{{"session"}, {"begun"}, {"events", true}}, {}};
  for (const kb::Session& session : answer.sessions) {
    table.rows.push_back({shown_text(session.name, kb::Log::kLongestName, style),
                          shown_text(session.begun_at, kMostLogCell, style),
                          fmt::format("{}", session.events)});
  }
  return table;
}

Table events_table(const TuneLogAnswer& answer, const Style& style) {
  Table table{{{"place", true}, {"kind"}, {"at"}, {"text"}, {"today"}}, {}};
  for (const ReplayedEvent& one : answer.events) {
    table.rows.push_back(
        {fmt::format("{}", one.logged.place),
         std::string(describe::word_of<kb::EventKind>(kb::kEventKindWords, one.logged.event.kind)),
         shown_text(one.logged.event.at, kMostLogCell, style),
         shown_text(one.logged.event.text, kMostLogCell, style),
         shown_text(one.today.value_or(""), kMostLogCell, style)});
  }
  return table;
}

// What a program wrote for programs, as words: lines and tabs are spaces.
std::string in_words(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

std::string_view event_word(kb::EventKind kind) {
  switch (kind) {
    case kb::EventKind::kToolCall:
      return "call";
    case kb::EventKind::kReply:
      return "reply";
    case kb::EventKind::kProposal:
      return "offer";
    case kb::EventKind::kVerdict:
      return "ruling";
  }
  return {};
}

std::string event_text(const ReplayedEvent& one, const Style& style) {
  const kb::Event& event = one.logged.event;
  std::string text =
      labelled_text(fmt::format("{:>3} {}", one.logged.place, event_word(event.kind)),
                    printable(in_words(event.text), kMostLogCell), style);
  if (one.today) {
    text += labelled_text("    today",
                          fmt::format("{}: {}", one.agrees ? "the same" : "otherwise", *one.today),
                          style);
  }
  return text;
}

std::string replay_summary(const TuneLogAnswer& answer, const Style& style) {
  const auto judged = std::ranges::count_if(
      answer.events, [](const ReplayedEvent& one) { return one.today.has_value(); });
  const auto same = std::ranges::count_if(
      answer.events, [](const ReplayedEvent& one) { return one.today && one.agrees; });
  return judged == 0
             ? ""
             : "\n" + labelled_text(
                          "replayed",
                          fmt::format("{} of {} verdicts are the same today", same, judged), style);
}

}  // namespace

std::string to_text(const TuneLogAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return tune_log_json(answer);
  }
  if (answer.events.empty()) {
    return style.format == Format::kTable && answer.sessions.empty()
               ? "no session was logged\n"
               : to_text(sessions_table(answer, style), style);
  }
  if (style.format != Format::kTable) {
    return to_text(events_table(answer, style), style);
  }
  std::string text;
  for (const ReplayedEvent& one : answer.events) {
    text += event_text(one, style);
  }
  return text + replay_summary(answer, style);
}

}  // namespace sextant::explain
