// What opens and ends the constructs of a bash script: if, case, loops, functions, tests.
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/shell_arithmetic.h"
#include "emit/shell_command_list.h"

namespace sextant::emit {
namespace {

constexpr std::size_t kMaxOpenBlocks = 64;

}  // namespace

Result<bool> ShellCommandList::read_keyword(std::string_view word) {
  if (is_one_of(word, {"then", "else", "do"})) {
    begin_part(word);
    return true;
  }
  if (word == "elif") {
    if (!blocks_.empty()) {
      blocks_.back().branch = 0;
    }
    terms_.take();
    return true;
  }
  if (is_one_of(word, {"fi", "done", "esac", "}"})) {
    close(word);
    terms_.add({});
    return true;
  }
  if (word == "if") {
    terms_.take();
    return opened({"fi", 0, ++group_});
  }
  if (is_one_of(word, {"while", "until"})) {
    terms_.take();
    return opened_loop(
        {.kind = word == "until" ? ShellBlock::Kind::kUntil : ShellBlock::Kind::kWhile});
  }
  if (word == "{") {
    if (!function_.empty()) {
      return opened_function();
    }
    return opened({"}", chain_.empty() ? 0 : chain_.back()});  // x && { …; }
  }
  if (word == "!") {
    terms_.negate();
    return true;
  }
  if (is_one_of(word, {"time", "coproc"})) {
    return true;
  }
  if (is_one_of(word, {"for", "select"})) {
    return loop_head();
  }
  if (word == "case") {
    return case_head();
  }
  if (word == "function") {
    words().skip_blanks();
    SEXTANT_TRY(const ShellWord name, simple_.next_word());
    function_ = plain_text(name);
    words().skip_blanks();
    if (words().looking_at("()")) {
      words().skip(2);
    }
    return true;
  }
  return word == "[[" ? read_test() : Result<bool>(false);
}

// then, else, do.
void ShellCommandList::begin_part(std::string_view word) {
  if (blocks_.empty()) {
    return;
  }
  OpenBlock& block = blocks_.back();
  ShellBranch branch;
  branch.terms = terms_.take();
  branch.otherwise = word == "else";
  branch.loop = word == "do";
  branch.negated = branch.loop && block.marker &&
                   commands_[*block.marker].block.kind == ShellBlock::Kind::kUntil;
  branch.group = block.group;
  if (word == "else" || block.branch != 0) {
    branch.terms.clear();
  }
  block.branch = 0;  // a branch does not begin inside the one before it
  branch.number = ++branch_;
  const bool body = branch.loop && block.marker;
  begin(std::move(branch));
  block.branch = branch_;
  if (body) {
    commands_[*block.marker].block.body = commands_.size();
  }
}

Result<bool> ShellCommandList::opened_loop(ShellBlock block) {
  ShellCommand command;
  command.offset = words().at();
  command.block = std::move(block);
  keep(std::move(command));
  SEXTANT_CHECK_OK(open({.closes = "done", .marker = commands_.size() - 1, .loop = true}));
  return true;
}

Result<bool> ShellCommandList::opened_function() {
  ShellCommand command;
  command.offset = words().at();
  command.block.kind = ShellBlock::Kind::kFunction;
  command.block.name = std::exchange(function_, {});
  command.block.body = commands_.size() + 1;
  keep(std::move(command));
  SEXTANT_CHECK_OK(open({.closes = "}", .marker = commands_.size() - 1}));
  return true;
}

Result<bool> ShellCommandList::opened(OpenBlock block) {
  SEXTANT_CHECK_OK(open(std::move(block)));
  return true;
}

Result<void> ShellCommandList::open(OpenBlock block) {
  if (blocks_.size() >= kMaxOpenBlocks) {
    return too_many_blocks();
  }
  blocks_.push_back(std::move(block));
  return {};
}

tl::unexpected<Error> ShellCommandList::too_many_blocks() {
  return invalid("blocks stand too deep in each other", words().where(words().at()),
                 fmt::format("at most {} open at once", kMaxOpenBlocks));
}

// A stray `fi` is passed over: the script's own shell will say so.
void ShellCommandList::close(std::string_view word) {
  if (!blocks_.empty() && blocks_.back().closes == word) {
    end_block();
  }
}

void ShellCommandList::end_block() {
  if (const auto marker = blocks_.back().marker) {
    ShellBlock& block = commands_[*marker].block;
    block.end = commands_.size();
    block.body = block.body == 0 ? block.end : block.body;
  }
  blocks_.pop_back();
}

// for NAME in word …, for ((…)).
Result<bool> ShellCommandList::loop_head() {
  words().skip_blanks();
  if (words().looking_at("((")) {
    words().skip(2);
    const std::size_t start = words().at();
    SEXTANT_CHECK_OK(words().skip_to_closing(')'));
    ShellCommand command;
    command.offset = start;
    command.assignments = set_in(start, words().at() - start);
    keep(std::move(command));
    if (words().peek() == ')') {
      words().skip(1);
    }
    terms_.take();
    return opened_loop({.kind = ShellBlock::Kind::kOther});
  }
  SEXTANT_TRY(const ShellWord name, simple_.next_word());
  ShellBlock block{.kind = ShellBlock::Kind::kFor, .name = std::string(plain_text(name))};
  SEXTANT_TRY(block.list, words_to_end_of_command());
  if (!block.list.empty() && plain_text(block.list[0]) == "in") {
    block.list.erase(block.list.begin());
  } else if (block.list.empty()) {  // over the arguments
    ShellPiece all = piece_at(ShellPiece::Kind::kVariable, name.offset, true);
    all.text = "@";
    all.length = name.length;
    block.list.push_back({{std::move(all)}, name.offset, name.length});
  }
  terms_.take();
  if (!is_shell_name(block.name)) {
    block.kind = ShellBlock::Kind::kOther;
  }
  return opened_loop(std::move(block));
}

// What the head of for ((…)) sets changes from round to round.
std::vector<ShellAssignment> ShellCommandList::set_in(std::size_t start, std::size_t length) {
  std::vector<ShellAssignment> sets;
  for (std::string& name : names_set(text_.substr(start, length))) {
    ShellAssignment set;
    set.name = std::move(name);
    set.offset = start;
    set.computed = true;
    sets.push_back(std::move(set));
  }
  return sets;
}

Result<std::vector<ShellWord>> ShellCommandList::words_to_end_of_command() {
  std::vector<ShellWord> list;
  while (true) {
    words().skip_blanks();
    SEXTANT_TRY(ShellWord word, simple_.next_word());
    if (word.pieces.empty()) {
      return list;
    }
    list.push_back(std::move(word));
  }
}

Result<bool> ShellCommandList::case_head() {
  words().skip_blanks();
  SEXTANT_TRY(ShellWord subject, simple_.next_word());
  words().skip_blanks();
  SEXTANT_CHECK_OK(simple_.next_word());  // in
  SEXTANT_CHECK_OK(open({"esac", 0, ++group_, {std::move(subject)}}));
  SEXTANT_CHECK_OK(case_pattern());
  return true;
}

// To behind the ")" of the next pattern; nothing is read where `esac` comes instead.
Result<void> ShellCommandList::case_pattern() {
  simple_.skip_lines();
  if (words().looking_at("esac")) {
    return {};
  }
  blocks_.back().branch = 0;
  if (words().peek() == '(') {
    words().skip(1);
  }
  if (words().at_end()) {
    return {};
  }
  const std::size_t start = words().at();
  SEXTANT_CHECK_OK(words().skip_to_closing(')'));
  begin_case(text_.substr(start, words().at() - start - 1));
  return {};
}

void ShellCommandList::begin_case(std::string_view patterns) {
  OpenBlock& block = blocks_.back();
  ShellBranch branch;
  branch.number = ++branch_;
  branch.group = block.group;
  branch.subject = block.subject;
  branch.otherwise = trimmed(patterns) == "*";
  for (const std::string_view pattern : split(patterns, '|')) {
    branch.patterns.emplace_back(trimmed(pattern));
  }
  begin(std::move(branch));
  block.branch = branch_;
  terms_.forget();
}

// [[ … ]]: its words, operators among them.
Result<bool> ShellCommandList::read_test() {
  const std::size_t opened_at = words().at();
  ShellTerm term{.kind = ShellTerm::Kind::kTest};
  while (!words().at_end()) {
    words().skip_blanks();
    SEXTANT_TRY(ShellWord word, simple_.next_word());
    if (plain_text(word) == "]]") {
      terms_.add(std::move(term));
      return true;
    }
    if (word.pieces.empty()) {
      const std::size_t length = words().looking_at("&&") || words().looking_at("||") ? 2 : 1;
      word.pieces.push_back(piece_at(ShellPiece::Kind::kText, words().at(), false));
      word.pieces.back().text = words().text().substr(words().at(), length);
      word.pieces.back().length = length;
      word.length = length;
      words().skip(length);
    }
    term.words.push_back(std::move(word));
  }
  return invalid("the test [[ that opens here is never closed", words().where(opened_at));
}

}  // namespace sextant::emit
