#include "emit/shell_commands.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/shell_command_list.h"

namespace sextant::emit {

Result<ShellText> ShellCommandList::read() {
  while (true) {
    words().skip_blanks();
    if (words().at_end()) {
      break;
    }
    SEXTANT_CHECK_OK(statement());
  }
  while (!blocks_.empty()) {  // never closed: bash will say so
    end_block();
  }
  return ShellText{std::move(commands_), std::move(simple_.bodies()), branch_, group_};
}

// Operators and line ends between commands.
Result<bool> ShellCommandList::separator() {
  const char c = words().peek();
  if (c == '\n') {
    words().skip(1);
    end_list();
    SEXTANT_CHECK_OK(simple_.read_here_documents());
    return true;
  }
  if (words().looking_at(";;") && !blocks_.empty() && blocks_.back().closes == "esac") {
    words().skip(words().peek(2) == '&' ? 3 : 2);
    end_list();
    SEXTANT_CHECK_OK(case_pattern());
    return true;
  }
  if (words().looking_at("&&") || words().looking_at("||")) {
    words().skip(2);
    join_list(c == '|');
    return true;
  }
  if (c == ';' || c == '&') {
    words().skip(1);
    end_list();
    return true;
  }
  if (c == '|') {  // its last command runs in a shell of its own
    words().skip(1);
    chain_.clear();
    terms_.begin_pipe();
    if (!commands_.empty()) {
      commands_.back().piped = true;
    }
    return true;
  }
  if (words().looking_at("((")) {
    words().skip(2);
    const std::size_t start = words().at();
    SEXTANT_CHECK_OK(words().skip_to_closing(')'));
    std::string_view inside = text_.substr(start, words().at() - start);
    inside.remove_suffix(inside.ends_with(')') ? 1 : 0);
    SEXTANT_CHECK_OK(keep_arithmetic(start, inside.size()));
    terms_.add({.kind = ShellTerm::Kind::kArithmetic, .arithmetic = std::string(inside)});
    return true;
  }
  if (c == '(') {
    words().skip(1);
    function_.clear();
    terms_.add({});
    SEXTANT_CHECK_OK(open({")", ++branch_}));
    return true;
  }
  if (c == ')') {
    words().skip(1);
    close(")");
    return true;
  }
  return false;
}

Result<void> ShellCommandList::statement() {
  SEXTANT_TRY(const bool separated, separator());
  if (separated) {
    return {};
  }
  const std::size_t start = words().at();
  std::vector<ShellRedirection> before;
  SEXTANT_TRY(const bool redirected, simple_.redirection(before));
  if (redirected) {
    return {};
  }
  SEXTANT_TRY(ShellWord word, simple_.next_word());
  SEXTANT_TRY(const bool keyword, read_keyword(plain_text(word)));
  if (keyword) {
    return {};
  }
  ShellCommand command;
  command.offset = start;
  const ShellWord name = word;
  SEXTANT_TRY(const bool function, simple_.read(command, std::move(word)));
  if (function) {
    function_ = plain_text(name);
    return {};
  }
  terms_.add(term_of(command));
  keep(std::move(command));
  return {};
}

// What follows && or || stands in a branch that hangs on everything before it.
void ShellCommandList::join_list(bool or_else) {
  ShellBranch branch;
  branch.number = ++branch_;
  branch.negated = or_else;
  branch.terms = terms_.so_far();
  chain_.clear();
  begin(std::move(branch));
  chain_.assign(1, branch_);
  terms_.join(or_else);
}

void ShellCommandList::end_list() {
  chain_.clear();
  terms_.end_list();
}

void ShellCommandList::begin(ShellBranch branch) {
  ShellCommand command;
  command.offset = words().at();
  command.begins = std::move(branch);
  keep(std::move(command));
}

Result<void> ShellCommandList::keep_arithmetic(std::size_t start, std::size_t length) {
  ShellCommand command;
  command.offset = start;
  SEXTANT_TRY(command.assignments, set_by_arithmetic(text_, start, length));
  keep(std::move(command));
  return {};
}

void ShellCommandList::keep(ShellCommand command) {
  if (auto sets = set_by_let(command); !sets.empty()) {
    ShellCommand let;
    let.offset = command.offset;
    let.assignments = std::move(sets);
    keep(std::move(let));
  }
  for (const OpenBlock& block : blocks_) {
    if (block.branch != 0) {
      command.branches.push_back(block.branch);
    }
  }
  command.branches.insert(command.branches.end(), chain_.begin(), chain_.end());
  if (!command.assignments.empty() || !command.words.empty() || command.begins.number != 0 ||
      command.block.kind != ShellBlock::Kind::kNone) {
    commands_.push_back(std::move(command));
  }
}

Result<ShellText> shell_commands(std::string_view text, std::string_view name) {
  if (text.size() > kMaxShellText) {
    return invalid(fmt::format("the script has {} bytes", text.size()), std::string(name),
                   fmt::format("at most {} bytes", kMaxShellText));
  }
  return ShellCommandList(text, name).read();
}

}  // namespace sextant::emit
