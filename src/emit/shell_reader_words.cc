// Words of commands with the places of their literals, for who asked to have the script read.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "emit/shell_reader.h"

namespace sextant::emit {
namespace {

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_.+~-").find(c) != std::string_view::npos;
}

// Where the value starts: behind the '=' of "--flag=value" and "key=value", else at the beginning.
std::size_t value_start(std::string_view text) {
  const std::size_t equals = text.find('=');
  return equals != std::string_view::npos && equals > 0 &&
                 std::ranges::all_of(text.substr(0, equals), is_key_character)
             ? equals + 1
             : 0;
}

bool holds_here(const ShellRun& run, const ShellSpot& spot) {
  return run.branch == 0 || std::ranges::find(spot.branches, run.branch) != spot.branches.end();
}

}  // namespace

ScriptWord ShellReader::word_of(const ShellRuns& runs, const ShellSpot& spot,
                                bool may_split) const {
  ScriptWord word;
  word.at.text = text_of(runs);
  word.at.place = place_of(runs, value_start(word.at.text));
  word.may_split = may_split && runs.size() == 1;
  for (const ShellRun& run : runs) {
    if (!run.why.empty()) {
      word.why = run.why;
    } else if (word.why.empty() && !holds_here(run, spot)) {
      word.why = run.verbatim
                     ? fmt::format("added in a branch only (line {})", state_.line_text(run.origin))
                     : "added in a branch only";
    }
  }
  return word;
}

// The value of a variable: an '=' in it means nothing.
ScriptWord ShellReader::value_word(const ShellRuns& runs, const ShellSpot& spot) const {
  ScriptWord word = word_of(runs, spot, false);
  word.at.place = place_of(runs, 0);
  return word;
}

// The stretch of a file that holds the word's bytes from `start` on, where there is one.
Place ShellReader::place_of(const ShellRuns& runs, std::size_t start) const {
  std::size_t first = kNoOrigin;
  std::size_t length = 0;
  bool whole = true;
  std::size_t done = 0;
  for (const ShellRun& run : runs) {
    const std::size_t from = start > done ? std::min(start - done, run.text.size()) : 0;
    done += run.text.size();
    if (from == run.text.size()) {
      continue;
    }
    const std::size_t origin = run.origin + (run.verbatim ? from : 0);
    if (first == kNoOrigin && run.origin != kNoOrigin) {
      first = origin;
    }
    whole = whole && run.verbatim && first + length == origin;
    length += run.text.size() - from;
  }
  return sources_.place(first, whole && first != kNoOrigin ? length : 0);
}

void ShellReader::list_variable(const std::string& variable, const ShellState::Variable& state) {
  ScriptVariable made{variable, {}, state.exported};
  const Result<ShellState::Value> value = state_.value_of(variable, {});
  if (!value) {
    ScriptWord word;
    word.at.text = "$" + variable;
    word.at.place.file = name_;
    word.at.place.line = state.values.back().line;
    word.why = value.error().what;
    made.values.push_back(std::move(word));
  } else {
    for (const ShellRuns& element : value->elements) {
      made.values.push_back(value_word(element, {}));
    }
  }
  script_.variables.push_back(std::move(made));
}

}  // namespace sextant::emit
