// What a tuning session ends with: analysis, proposals with verdicts, what to run; and the log of
// sessions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agents/report.h"
#include "describe/assumption.h"
#include "explain/provenance.h"
#include "explain/style.h"
#include "kb/log.h"

namespace sextant::explain {

// A question to a language model after its proposals, and what came of it.
struct ModelQuestion {
  std::string question;
  std::string said = {};
  std::vector<agents::Judged> added = {};
};
// What a language model added to the built-in report.
struct ModelPart {
  std::vector<agents::Judged> added = {};
  std::size_t agreed = 0;  // its proposals that the report had already
  std::string summary = {};
  std::optional<std::string> cut_short = {};  // why it was not let finish
  std::string retrieval = {};  // how the knowledge base was searched; "": not otherwise than ever
  std::string cost = {};
  std::vector<ModelQuestion> questions = {};
};

struct TuneAnswer {
  Provenance provenance;
  std::string engine = "built-in";           // who reasoned: "built-in", "model NAME"
  std::optional<std::string> fallback = {};  // why the one asked for did not
  agents::Report report;
  std::optional<ModelPart> model = {};
  std::string would_send = {};      // of a dry run: the request, and nothing else is shown
  bool only_last_question = false;  // the rest was shown before
  std::string session = {};         // of the log; "": nothing was logged
  describe::Assumptions assumed = {};
  std::optional<std::int64_t> top = {};  // rows of a table; nothing: all that there are
  bool verbose = false;
};
std::string to_text(const TuneAnswer& answer, const Style& style);

// Of one session where it was asked for: each event, and what the judge says of it today.
struct ReplayedEvent {
  kb::LoggedEvent logged;
  std::optional<std::string> today = {};  // nothing: not judged again
  bool agrees = true;
};
struct TuneLogAnswer {
  Provenance provenance;
  std::vector<kb::Session> sessions = {};
  std::vector<ReplayedEvent> events = {};
};
std::string to_text(const TuneLogAnswer& answer, const Style& style);

}  // namespace sextant::explain
