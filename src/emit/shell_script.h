// A bash launch script, read and never run: the commands it would start, with every variable that
// can be known in its place, and where each word's literal stands.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "emit/flags.h"

namespace sextant::emit {

// A word of a command. Its place spans the literal text of the word, or of the part behind '=' in
// "--flag=8" and "key=8": where that came out of a variable set once, the literal in the
// assignment. Length 0: no single literal.
struct ScriptWord {
  WordAt at;
  std::string why;         // not empty: the text is the spelling of what is not known
  bool may_split = false;  // it may be no word at all, or several
};

struct ScriptVariable {
  std::string name;
  std::vector<ScriptWord> values;  // one, or an array's elements
  bool exported = false;
};

struct ScriptCommand {
  std::vector<ScriptVariable> environment{};  // NAME=value before the command
  // `srun … bash -c "…"` is one command: srun's words, then those of the text.
  std::vector<ScriptWord> words{};
  std::string file{};  // where it stands
  std::int64_t line = 0;
  // It stands in branches of which nobody knows whether they are taken; or in a function that
  // nothing calls.
  bool may_run = false;
  bool uncalled = false;
};

// A file that the script itself writes.
struct ScriptFile {
  std::string name;
  std::vector<ScriptWord> parts{};  // its text, piece by piece
  bool known = true;                // false: written by a command that is not followed
};

struct ShellScript {
  std::vector<ScriptCommand> commands;
  std::vector<ScriptVariable> variables;  // as they are at the end, by name
  std::vector<ScriptWord> batch;          // the words of #SBATCH and #PBS lines
  std::vector<ScriptFile> written;
  std::vector<std::string> followed;  // files it reads or starts, that were found
};

// How the script is started, as far as its user says: `TP=4 bash train.sh dsw 7B`.
struct ShellInvocation {
  std::vector<std::string> arguments{};
  bool arguments_given = false;  // else $1 and its like are not known
  std::vector<std::pair<std::string, std::string>> variables{};
  // The file that a script names, where the caller finds it: one that is read (`source params.sh`)
  // or started (`bash train.sh`). None: no file is opened.
  struct Found {
    std::string name;
    std::string text;
  };
  std::function<std::optional<Found>(std::string_view path)> file{};
};

// An Error where the script is too large, is no UTF-8, or a quote or bracket is never closed (at
// the line where it opened), or where variables come to more than kMaxShellExpansion. `name`: the
// file, as places have it.
Result<ShellScript> read_shell_script(std::string_view text, std::string_view name,
                                      const ShellInvocation& invocation = {});

// The value of an option in a word list: "--nodes=4", "--nodes 4", "-N 4", "-N4". The last one
// given stands; nothing where there is none.
std::optional<ScriptWord> option_value(std::span<const ScriptWord> words,
                                       std::initializer_list<std::string_view> spellings);

// "bash" of "/usr/bin/bash".
std::string_view base_name(std::string_view path);

}  // namespace sextant::emit
