#include "emit/shell_commands.h"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/shell_arithmetic.h"
#include "emit/shell_simple_command.h"

namespace sextant::emit {
namespace {

constexpr std::size_t kMaxOpenBlocks = 64;

// A construct that is open: `fi`, `done`, `esac`, `}` or `)` ends it. branch 0: its condition is
// being read.
struct OpenBlock {
  std::string_view closes;
  int branch = 0;
  bool loop = false;
  int group = 0;
  std::vector<ShellWord> subject{};  // of a case
};

class Commands {
 public:
  Commands(std::string_view text, std::string_view name) : text_(text), simple_(text, name) {}

  Result<std::vector<ShellCommand>> read() {
    while (true) {
      words().skip_blanks();
      if (words().at_end()) {
        return std::move(commands_);
      }
      SEXTANT_CHECK_OK(statement());
    }
  }

 private:
  // Operators and line ends between commands.
  Result<bool> separator() {
    const char c = words().peek();
    if (c == '\n') {
      words().skip(1);
      end_list();
      SEXTANT_CHECK_OK(simple_.skip_here_documents());
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
    if (c == '|') {  // a pipe's status is that of its last command, in a shell
                     // of its own
      words().skip(1);
      chain_.clear();
      list_.assign(1, {});
      return true;
    }
    if (words().looking_at("((")) {
      words().skip(2);
      const std::size_t start = words().at();
      SEXTANT_CHECK_OK(words().skip_to_closing(')'));
      std::string_view inside = text_.substr(start, words().at() - start);
      inside.remove_suffix(inside.ends_with(')') ? 1 : 0);
      keep_computed(inside, start);
      add_term({.kind = ShellTerm::Kind::kArithmetic, .arithmetic = std::string(inside)});
      return true;
    }
    if (c == '(') {
      words().skip(1);
      add_term({});
      SEXTANT_CHECK_OK(open({")", ++branch_, false}));
      return true;
    }
    if (c == ')') {
      words().skip(1);
      close(")");
      return true;
    }
    return false;
  }

  Result<void> statement() {
    SEXTANT_TRY(const bool separated, separator());
    if (separated) {
      return {};
    }
    const std::size_t start = words().at();
    SEXTANT_TRY(const bool redirected, simple_.redirection());
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
    SEXTANT_TRY(const bool function, simple_.read(command, std::move(word)));
    add_term(term_of(command));
    if (function) {
      function_branch_ = ++branch_;
    }
    keep(std::move(command));
    return {};
  }

  // [ … ] and `test …` are tests; true, false, : and what always succeeds speak for themselves.
  static ShellTerm term_of(const ShellCommand& command) {
    ShellTerm term;
    const std::string_view first =
        command.words.empty() ? std::string_view() : plain_text(command.words.front());
    const bool bracket = first == "[" && plain_text(command.words.back()) == "]";
    if ((bracket && command.words.size() > 2) || (first == "test" && command.words.size() > 1)) {
      term.kind = ShellTerm::Kind::kTest;
      term.words.assign(command.words.begin() + 1, command.words.end() - (bracket ? 1 : 0));
    } else if (is_one_of(first, {"true", "false", ":", "echo", "printf"}) ||
               (command.words.empty() && !command.assignments.empty())) {
      term.kind = ShellTerm::Kind::kArithmetic;
      term.arithmetic = first == "false" ? "0" : "1";
    }
    return term;
  }

  void add_term(ShellTerm term) {
    term.negated = std::exchange(negated_, false);
    term.or_else = std::exchange(or_else_, false);
    if (list_.size() <= kMaxShellTerms) {
      list_.push_back(std::move(term));
    }
  }

  // What follows && or || stands in a branch that hangs on everything before it.
  void join_list(bool or_else) {
    ShellBranch branch;
    branch.number = ++branch_;
    branch.negated = or_else;
    branch.terms = condition(list_);
    chain_.clear();
    begin(std::move(branch));
    chain_.assign(1, branch_);
    or_else_ = or_else;
  }

  void end_list() {
    chain_.clear();
    if (!list_.empty()) {
      last_ = std::exchange(list_, {});
    }
    or_else_ = false;
  }

  static std::vector<ShellTerm> condition(const std::vector<ShellTerm>& terms) {
    return terms.size() > kMaxShellTerms ? std::vector<ShellTerm>{} : terms;
  }

  // The condition that `then` or `do` ends.
  std::vector<ShellTerm> take_condition() {
    std::vector<ShellTerm> terms = condition(list_.empty() ? last_ : list_);
    list_.clear();
    last_.clear();
    return terms;
  }

  void begin(ShellBranch branch) {
    ShellCommand command;
    command.offset = words().at();
    command.begins = std::move(branch);
    keep(std::move(command));
  }

  // Arithmetic sets variables: NAME=…, NAME+=…, NAME++. Their values are not worked out.
  void keep_computed(std::string_view arithmetic, std::size_t offset) {
    ShellCommand command;
    command.offset = offset;
    for (std::string& name : names_set(arithmetic)) {
      ShellAssignment set;
      set.name = std::move(name);
      set.offset = offset;
      set.computed = true;
      command.assignments.push_back(std::move(set));
    }
    keep(std::move(command));
  }

  // `let X=…` and `read X Y` set variables too: as a command of their own.
  static ShellCommand computed_by(const ShellCommand& command) {
    ShellCommand sets;
    sets.offset = command.offset;
    const std::string_view first =
        command.words.empty() ? std::string_view() : plain_text(command.words.front());
    if (first != "let" && first != "read") {
      return sets;
    }
    for (std::size_t i = 1; i < command.words.size(); ++i) {
      const std::string_view word = plain_text(command.words[i]);
      ShellAssignment set;
      set.name = word.substr(0, word.find_first_not_of(kShellNameCharacters));
      set.offset = command.words[i].offset;
      set.computed = true;
      if (is_shell_name(set.name)) {
        sets.assignments.push_back(std::move(set));
      }
    }
    return sets;
  }

  void keep(ShellCommand command) {
    if (ShellCommand sets = computed_by(command); !sets.assignments.empty()) {
      keep(std::move(sets));
    }
    for (const OpenBlock& block : blocks_) {
      if (block.branch != 0) {
        command.branches.push_back(block.branch);
      }
      command.in_loop = command.in_loop || (block.loop && block.branch != 0);
    }
    command.branches.insert(command.branches.end(), chain_.begin(), chain_.end());
    if (!command.assignments.empty() || !command.words.empty() || command.begins.number != 0) {
      commands_.push_back(std::move(command));
    }
  }

  Result<bool> read_keyword(std::string_view word) {
    if (is_one_of(word, {"then", "else", "do"})) {
      begin_part(word);
      return true;
    }
    if (word == "elif") {
      if (!blocks_.empty()) {
        blocks_.back().branch = 0;
      }
      take_condition();
      return true;
    }
    if (is_one_of(word, {"fi", "done", "esac", "}"})) {
      close(word);
      add_term({});
      return true;
    }
    if (word == "if") {
      take_condition();
      return opened({"fi", 0, false, ++group_});
    }
    if (is_one_of(word, {"while", "until"})) {
      take_condition();
      until_ = word == "until";
      return opened({"done", 0, true});
    }
    if (word == "{") {
      const int branch = chain_.empty() ? 0 : chain_.back();  // x && { …; }
      return opened({"}", function_branch_ != 0 ? std::exchange(function_branch_, 0) : branch});
    }
    if (word == "!") {
      negated_ = !negated_;
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
      SEXTANT_CHECK_OK(simple_.next_word());
      function_branch_ = ++branch_;
      if (words().looking_at("()")) {
        words().skip(2);
      }
      return true;
    }
    return word == "[[" ? read_test() : Result<bool>(false);
  }

  // then, else, do.
  void begin_part(std::string_view word) {
    if (blocks_.empty()) {
      return;
    }
    OpenBlock& block = blocks_.back();
    ShellBranch branch;
    branch.terms = take_condition();
    branch.otherwise = word == "else";
    branch.loop = word == "do";
    branch.negated = branch.loop && std::exchange(until_, false);
    branch.group = block.group;
    if (word == "else" || block.branch != 0) {
      branch.terms.clear();
    }
    block.branch = 0;  // a branch does not begin inside the one before it
    branch.number = ++branch_;
    begin(std::move(branch));
    block.branch = branch_;
  }

  Result<bool> opened(OpenBlock block) {
    SEXTANT_CHECK_OK(open(std::move(block)));
    return true;
  }

  Result<void> open(OpenBlock block) {
    if (blocks_.size() >= kMaxOpenBlocks) {
      return too_many_blocks();
    }
    blocks_.push_back(std::move(block));
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> too_many_blocks() {
    return invalid("blocks stand too deep in each other", words().where(words().at()),
                   fmt::format("at most {} open at once", kMaxOpenBlocks));
  }

  // A stray `fi` is passed over: the script's own shell will say so.
  void close(std::string_view word) {
    if (!blocks_.empty() && blocks_.back().closes == word) {
      blocks_.pop_back();
    }
  }

  // for NAME in word …; the variable is what the words say only where there is one.
  Result<bool> loop_head() {
    words().skip_blanks();
    if (words().looking_at("((")) {
      words().skip(2);
      const std::size_t start = words().at();
      SEXTANT_CHECK_OK(words().skip_to_closing(')'));
      keep_computed(text_.substr(start, words().at() - start), start);
      if (words().peek() == ')') {
        words().skip(1);
      }
      return opened({"done", 0, true});
    }
    ShellCommand command;
    command.offset = words().at();
    SEXTANT_TRY(const ShellWord name, simple_.next_word());
    ShellAssignment loop;
    loop.name = plain_text(name);
    loop.offset = name.offset;
    loop.loops = true;
    SEXTANT_TRY(loop.values, words_to_end_of_command());
    if (!loop.values.empty() && plain_text(loop.values[0]) == "in") {
      loop.values.erase(loop.values.begin());
    }
    take_condition();
    SEXTANT_CHECK_OK(open({"done", 0, true}));
    if (is_shell_name(loop.name)) {
      command.assignments.push_back(std::move(loop));
      keep(std::move(command));
    }
    return true;
  }

  Result<std::vector<ShellWord>> words_to_end_of_command() {
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

  Result<bool> case_head() {
    words().skip_blanks();
    SEXTANT_TRY(ShellWord subject, simple_.next_word());
    words().skip_blanks();
    SEXTANT_CHECK_OK(simple_.next_word());  // in
    SEXTANT_CHECK_OK(open({"esac", 0, false, ++group_, {std::move(subject)}}));
    SEXTANT_CHECK_OK(case_pattern());
    return true;
  }

  // To behind the ")" of the next pattern; nothing is read where `esac` comes instead.
  Result<void> case_pattern() {
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

  void begin_case(std::string_view patterns) {
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
    list_.clear();
  }

  // [[ … ]]: its words, operators among them.
  Result<bool> read_test() {
    const std::size_t opened_at = words().at();
    ShellTerm term{.kind = ShellTerm::Kind::kTest};
    while (!words().at_end()) {
      words().skip_blanks();
      SEXTANT_TRY(ShellWord word, simple_.next_word());
      if (plain_text(word) == "]]") {
        add_term(std::move(term));
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

  ShellWords& words() { return simple_.words(); }

  std::string_view text_;
  SimpleCommands simple_;
  std::vector<ShellCommand> commands_;
  std::vector<OpenBlock> blocks_;
  std::vector<int> chain_;       // the branch of the && and || list being read
  std::vector<ShellTerm> list_;  // what that list hangs on so far
  std::vector<ShellTerm> last_;  // the list before it
  bool negated_ = false;
  bool or_else_ = false;
  bool until_ = false;
  int branch_ = 0;
  int group_ = 0;
  int function_branch_ = 0;
};

}  // namespace

Result<std::vector<ShellCommand>> shell_commands(std::string_view text, std::string_view name) {
  if (text.size() > kMaxShellText) {
    return invalid(fmt::format("the script has {} bytes", text.size()), std::string(name),
                   fmt::format("at most {} bytes", kMaxShellText));
  }
  return Commands(text, name).read();
}

}  // namespace sextant::emit
