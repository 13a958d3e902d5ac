// What a tuning session ends with: analysis, proposals with verdicts, what to run; and the log of
// sessions.
#pragma once

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

struct TuneAnswer {
  Provenance provenance;
  std::string engine = "built-in";           // who reasoned: "built-in", "model NAME"
  std::optional<std::string> fallback = {};  // why the one asked for did not
  agents::Report report;
  std::string session = {};  // of the log; "": nothing was logged
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
