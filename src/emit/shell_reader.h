// A bash script followed from top to bottom without running it: branches that are known to be
// taken, loops over known lists round by round, functions where they are called, files that it
// reads or starts, texts that it evaluates. What may or may not run stands in a branch of its own
// (emit/shell_state.h).
//
// shell_reader.cc has the control flow, shell_reader_commands.cc what single commands do,
// shell_reader_texts.cc texts and files that are read in turn, shell_output.cc what commands print,
// shell_batch.cc what a scheduler is told, shell_reader_words.cc places of words.
#pragma once

#include <cstddef>
#include <deque>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emit/shell_commands.h"
#include "emit/shell_conditions.h"
#include "emit/shell_script.h"
#include "emit/shell_sources.h"
#include "emit/shell_state.h"

namespace sextant::emit {

// Limits on what a script comes to; more is an Error, or is read as what may run any number of
// times.
inline constexpr std::size_t kMaxShellSteps = std::size_t{1} << 16U;  // commands, round by round
inline constexpr std::size_t kMaxShellRounds = 256;                   // of one loop
inline constexpr int kMaxShellCalls = 12;          // functions and texts in each other
inline constexpr std::size_t kMaxShellFiles = 32;  // that it reads or starts
inline constexpr std::size_t kMaxShellOutput = std::size_t{1} << 20U;  // words of all its commands

class ShellReader {
 public:
  // REQUIRES: text, name and invocation outlive the reader.
  ShellReader(std::string_view text, std::string_view name, const ShellInvocation& invocation);

  Result<ShellScript> read();

 private:
  struct Parsed {
    std::string text;
    ShellText shell{};
    std::vector<ShellStretch> stretches{};
  };
  struct Group {
    int first = 0;       // its first branch: the group is being read anew
    bool taken = false;  // for sure
    bool open = false;   // one may have been taken
  };
  // One reading of a text. Branches get numbers of the whole script as they begin.
  struct Frame {
    explicit Frame(const Parsed& parsed)
        : text(&parsed),
          numbers(static_cast<std::size_t>(parsed.shell.branches) + 1, 0),
          groups(static_cast<std::size_t>(parsed.shell.groups) + 1) {}
    const Parsed* text;
    std::vector<int> numbers;
    std::vector<Group> groups;
  };
  // What stands around the text being read: words that come before its commands' (`srun … bash
  // -c`), and branches.
  struct Outer {
    std::vector<ScriptWord> words{};
    std::vector<ScriptVariable> environment{};
    ShellSpot spot{};
    int depth = 0;
    bool inner = false;  // a text of bash -c or eval: lines are those of the command
    Place at{};          // of that command
  };
  struct Function {
    const Parsed* text = nullptr;
    std::size_t body = 0;
    std::size_t end = 0;
    bool called = false;
  };
  // How a stretch of commands ended; `maybe`: as far as is known it may have.
  enum class Flow { kOn, kBreak, kContinue, kReturn, kExit };
  struct Ending {
    Flow flow = Flow::kOn;
    Flow maybe = Flow::kOn;
  };
  // Of a command, and of the commands around it.
  struct Spots {
    const ShellSpot& here;
    const ShellSpot& around;
  };
  struct Fields {
    std::vector<ShellRuns> fields{};
    std::vector<bool> splits{};
  };

  // shell_reader.cc
  Result<Ending> run(Frame& frame, std::size_t first, std::size_t last, const Outer& outer);
  Result<Ending> run_one(Frame& frame, std::size_t at, const Spots& spots, const Outer& outer);
  [[nodiscard]] std::optional<ShellSpot> spot_of(Frame& frame, const ShellCommand& command,
                                                 const ShellSpot& around);
  Result<void> begin_branch(Frame& frame, const ShellBranch& branch, const ShellSpot& spot);
  ShellSpot head_spot(Frame& frame, std::size_t at, const Outer& outer);
  Result<Ending> run_loop(Frame& frame, std::size_t at, const ShellSpot& around,
                          const Outer& outer);
  Result<Ending> run_for(Frame& frame, std::size_t at, const Outer& outer);
  Result<Ending> run_while(Frame& frame, std::size_t at, const Outer& outer);
  Result<Ending> run_open(Frame& frame, std::size_t at, Outer outer);
  Result<Ending> run_round(Frame& frame, const ShellBlock& block, Outer& outer);
  Result<std::optional<std::vector<ShellRuns>>> loop_values(const ShellBlock& block,
                                                            const ShellSpot& spot);
  Result<Ending> call_function(Function& function, std::vector<ShellRuns> arguments,
                               const Outer& outer);
  Result<void> run_uncalled();
  Result<Ending> run_text(const Parsed& parsed, const Outer& outer);
  [[nodiscard]] bool has_time() const { return steps_ < kMaxShellSteps / 2; }
  int fresh_branch() { return ++branches_; }

  // shell_reader_commands.cc
  Result<Ending> run_command(const ShellCommand& command, const ShellText& text,
                             const ShellSpot& spot, const Outer& outer);
  [[nodiscard]] static std::optional<Ending> ending_of(const std::vector<ShellRuns>& fields);
  Result<void> set_variables(const ShellCommand& command, Outer& made);
  Result<std::optional<Ending>> run_others(const ShellCommand& command, const Fields& fields,
                                           const Outer& made);
  Result<Fields> fields_of(const ShellCommand& command, const ShellSpot& spot);
  Result<bool> run_builtin(const ShellCommand& command, const ShellText& text,
                           const std::vector<ShellRuns>& fields, const ShellSpot& spot);
  Result<void> read_variables(const ShellCommand& command, const ShellText& text,
                              const std::vector<ShellRuns>& fields, const ShellSpot& spot);
  void give_read(const std::vector<std::string>& names, bool array,
                 const std::vector<std::string>& values, const ShellSpot& spot);
  Result<std::optional<ShellRuns>> input_of(const ShellCommand& command, const ShellText& text,
                                            const ShellSpot& spot);
  Result<void> keep_written(const ShellCommand& command, const ShellText& text,
                            const std::vector<ShellRuns>& fields, const ShellSpot& spot);
  void keep_command(Outer made, const Fields& fields, const ShellSpot& spot);
  void start_as();
  void put_arguments(std::vector<ShellRuns> arguments);
  void shift(const std::string& by, const ShellSpot& spot);
  void forget_arguments(std::string_view why);

  // shell_reader_words.cc
  [[nodiscard]] ScriptWord word_of(const ShellRuns& runs, const ShellSpot& spot,
                                   bool may_split) const;
  [[nodiscard]] ScriptWord value_word(const ShellRuns& runs, const ShellSpot& spot) const;
  [[nodiscard]] Place place_of(const ShellRuns& runs, std::size_t start) const;
  void list_variable(const std::string& variable, const ShellState::Variable& state);

  // shell_reader_texts.cc
  // Nothing: the command does not run another text or file that is known.
  Result<std::optional<Ending>> run_inner(const Fields& fields, const Outer& made);
  Result<Ending> run_inner_text(const Fields& fields, std::size_t first, std::size_t last,
                                Outer made);
  Result<Ending> run_file(const Parsed& parsed, const Fields& fields, std::size_t at, Outer made);
  Result<std::optional<Ending>> source_file(const Fields& fields, const Outer& made);
  Result<const Parsed*> parsed_text(std::string text, std::vector<ShellStretch> stretches,
                                    std::string_view name);
  Result<const Parsed*> parsed_runs(const ShellRuns& runs, const ShellSpot& spot);
  Result<const Parsed*> parsed_file(const ShellRuns& path, const ShellSpot& spot);
  void keep_exported(std::size_t first);

  // shell_batch.cc
  void read_batch_lines(std::string_view text, std::size_t base);
  void add_batch_words(std::string_view line, std::size_t start, bool slurm);
  void define_batch();
  void define(std::initializer_list<std::string_view> names, const std::optional<ScriptWord>& word);

  // shell_output.cc
  Result<std::optional<ShellRuns>> output_of(const ShellPiece& piece, const ShellSpot& spot);
  Result<std::optional<ShellRuns>> printed_by(const ShellCommand& command, const ShellText& text,
                                              const std::vector<ShellRuns>& fields,
                                              const ShellSpot& spot);

  struct Written {
    ShellRuns text;
    bool known = true;
    bool open = false;  // in a branch that may not be taken
  };
  [[nodiscard]] const Written* written_file(std::string_view path) const;

  std::string_view text_;
  std::string_view name_;
  const ShellInvocation& invocation_;
  ShellSources sources_;
  ShellState state_;
  ShellScript script_;
  std::deque<Parsed> texts_;
  std::map<std::string, const Parsed*, std::less<>> files_;
  std::map<int, Truth> truth_;  // of branches by number; none: not known
  std::map<std::string, Function, std::less<>> functions_;
  std::map<std::string, Written, std::less<>> written_;
  std::vector<ShellRuns> arguments_;  // that are known
  std::vector<std::map<std::string, std::optional<ShellState::Variable>, std::less<>>> locals_;
  std::size_t steps_ = 0;
  std::size_t inner_bytes_ = 0;
  std::size_t words_ = 0;
  int branches_ = 0;
  int outputs_ = 0;  // in each other
  bool uncalled_ = false;
};

// `bash` of "/usr/bin/bash", `sh`, `zsh`.
bool is_shell(std::string_view program);

}  // namespace sextant::emit
