// What a tuning session has at hand, and how it goes into the Sharding Memory: entries of the
// knowledge base, a log that is told of every question, reply, proposal and verdict, and the text
// that a replay starts from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/tools.h"
#include "app/context.h"
#include "app/known_entries.h"
#include "app/use_case.h"
#include "base/result.h"
#include "kb/log.h"
#include "kb/search.h"
#include "machine/machine.h"

namespace sextant::app {

// A parameter as it was given. Those of a session in the order of their names.
using GivenWords = std::vector<std::pair<std::string, std::string>>;

// The first event of a session: what was asked, of which files. Read back to the same value.
struct SessionStart {
  GivenWords words;
  machine::InputFiles inputs;
  bool operator==(const SessionStart&) const = default;
};
std::string start_text(const SessionStart& start);
// Nothing where the text is no such event.
std::optional<SessionStart> parse_start(std::string_view text);

// Notes events in a session of the log, each on the disk before it returns. Where that fails, the
// session goes on without, and failure() says why.
class SessionLog {
 public:
  // `file` empty, or `logs` false: nothing is written.
  SessionLog(const std::filesystem::path& file, std::string name, std::string now, bool logs);
  void note(kb::EventKind kind, std::string text);
  // "": nothing is logged.
  [[nodiscard]] std::string name() const { return log_ ? name_ : std::string(); }
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  std::optional<kb::Log> log_;
  std::string name_;
  std::string now_;
  std::string failure_;
};

// Entries, and an index that they are searched by.
struct Knowledge {
  std::vector<kb::Entry> entries;  // empty: without a knowledge base
  explain::Provenance provenance;
  std::shared_ptr<kb::Index> index;  // null: none
};
Result<Knowledge> knowledge_of(const std::string& kb_word, bool without, const Context& context);

// `search` over the knowledge (none without one) and `note` into the log, which must outlive the
// tools. Agents note what they ask themselves.
agents::Tools session_tools(const Knowledge& knowledge, SessionLog& log);

// A name for a session of that start: the same of the same.
std::string session_name(const SessionStart& start);

}  // namespace sextant::app
