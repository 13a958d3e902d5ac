#include "emit/shell_commands.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "emit/shell_arithmetic.h"

namespace sextant::emit {
namespace {

constexpr std::size_t kMaxOpenBlocks = 64;

// A construct that is open: `fi`, `done`, `esac`, `}` or `)` ends it. branch 0: its condition is
// being read.
struct Block {
  std::string_view closes;
  int branch = 0;
  bool loop = false;
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

class Commands {
 public:
  Commands(std::string_view text, std::string_view name)
      : text_(text), words_(text, name), name_(name) {}

  Result<std::vector<ShellCommand>> read() {
    while (true) {
      words_.skip_blanks();
      if (words_.at_end()) {
        return std::move(commands_);
      }
      SEXTANT_CHECK_OK(statement());
    }
  }

 private:
  // Operators and line ends between commands.
  Result<bool> separator() {
    const char c = words_.peek();
    if (c == '\n') {
      words_.skip(1);
      chain_.clear();
      SEXTANT_CHECK_OK(skip_here_documents());
      return true;
    }
    if (words_.looking_at(";;") && !blocks_.empty() && blocks_.back().closes == "esac") {
      words_.skip(words_.peek(2) == '&' ? 3 : 2);
      chain_.clear();
      SEXTANT_CHECK_OK(case_pattern());
      return true;
    }
    if (words_.looking_at("&&") || words_.looking_at("||")) {
      if (c == '|') {
        chain_.clear();
      }
      chain_.push_back(++branch_);
      words_.skip(2);
      return chain_.size() > kMaxOpenBlocks ? Result<bool>(too_many_blocks()) : Result<bool>(true);
    }
    if (c == ';' || c == '&' || c == '|') {
      words_.skip(1);
      chain_.clear();
      return true;
    }
    if (words_.looking_at("((")) {
      words_.skip(2);
      const std::size_t start = words_.at();
      SEXTANT_CHECK_OK(words_.skip_to_closing(')'));
      keep_computed(text_.substr(start, words_.at() - start), start);
      return true;
    }
    if (c == '(') {
      words_.skip(1);
      SEXTANT_CHECK_OK(open({")", ++branch_, false}));
      return true;
    }
    if (c == ')') {
      words_.skip(1);
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
    const std::size_t start = words_.at();
    SEXTANT_TRY(const bool redirected, redirection());
    if (redirected) {
      return {};
    }
    SEXTANT_TRY(ShellWord word, next_word());
    SEXTANT_TRY(const bool keyword, read_keyword(plain_text(word)));
    if (keyword) {
      return {};
    }
    ShellCommand command;
    command.offset = start;
    SEXTANT_CHECK_OK(simple_command(command, std::move(word)));
    keep(std::move(command));
    return {};
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
    for (const Block& block : blocks_) {
      if (block.branch != 0) {
        command.branches.push_back(block.branch);
      }
      command.in_loop = command.in_loop || (block.loop && block.branch != 0);
    }
    command.branches.insert(command.branches.end(), chain_.begin(), chain_.end());
    if (!command.assignments.empty() || !command.words.empty()) {
      commands_.push_back(std::move(command));
    }
  }

  Result<bool> read_keyword(std::string_view word) {
    if (is_one_of(word, {"then", "else", "do"})) {
      if (!blocks_.empty()) {
        blocks_.back().branch = ++branch_;
      }
      return true;
    }
    if (word == "elif") {
      if (!blocks_.empty()) {
        blocks_.back().branch = 0;
      }
      return true;
    }
    if (is_one_of(word, {"fi", "done", "esac", "}"})) {
      close(word);
      return true;
    }
    if (word == "if") {
      return opened({"fi", 0, false});
    }
    if (is_one_of(word, {"while", "until"})) {
      return opened({"done", 0, true});
    }
    if (word == "{") {
      return opened({"}", std::exchange(function_branch_, 0), false});
    }
    if (is_one_of(word, {"!", "time", "coproc"})) {
      return true;
    }
    if (is_one_of(word, {"for", "select"})) {
      return loop_head();
    }
    if (word == "case") {
      return case_head();
    }
    if (word == "function") {
      words_.skip_blanks();
      SEXTANT_CHECK_OK(next_word());
      function_branch_ = ++branch_;
      if (words_.looking_at("()")) {
        words_.skip(2);
      }
      return true;
    }
    return word == "[[" ? skip_test() : Result<bool>(false);
  }

  Result<bool> opened(Block block) {
    SEXTANT_CHECK_OK(open(block));
    return true;
  }

  Result<void> open(Block block) {
    if (blocks_.size() >= kMaxOpenBlocks) {
      return too_many_blocks();
    }
    blocks_.push_back(block);
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> too_many_blocks() const {
    return invalid("blocks stand too deep in each other", words_.where(words_.at()),
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
    words_.skip_blanks();
    if (words_.looking_at("((")) {
      words_.skip(2);
      const std::size_t start = words_.at();
      SEXTANT_CHECK_OK(words_.skip_to_closing(')'));
      keep_computed(text_.substr(start, words_.at() - start), start);
      if (words_.peek() == ')') {
        words_.skip(1);
      }
      return opened({"done", 0, true});
    }
    ShellCommand command;
    command.offset = words_.at();
    SEXTANT_TRY(const ShellWord name, next_word());
    ShellAssignment loop;
    loop.name = plain_text(name);
    loop.offset = name.offset;
    loop.loops = true;
    SEXTANT_TRY(loop.values, words_to_end_of_command());
    if (!loop.values.empty() && plain_text(loop.values[0]) == "in") {
      loop.values.erase(loop.values.begin());
    }
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
      words_.skip_blanks();
      SEXTANT_TRY(ShellWord word, next_word());
      if (word.pieces.empty()) {
        return list;
      }
      list.push_back(std::move(word));
    }
  }

  Result<bool> case_head() {
    words_.skip_blanks();
    SEXTANT_CHECK_OK(next_word());
    words_.skip_blanks();
    SEXTANT_CHECK_OK(next_word());  // in
    SEXTANT_CHECK_OK(open({"esac", 0, false}));
    SEXTANT_CHECK_OK(case_pattern());
    return true;
  }

  // To behind the ")" of the next pattern; nothing is read where `esac` comes instead.
  Result<void> case_pattern() {
    skip_lines();
    if (words_.looking_at("esac")) {
      return {};
    }
    blocks_.back().branch = ++branch_;
    if (words_.peek() == '(') {
      words_.skip(1);
    }
    if (words_.at_end()) {
      return {};
    }
    return words_.skip_to_closing(')');
  }

  void skip_lines() {
    words_.skip_blanks();
    while (words_.peek() == '\n') {
      words_.skip(1);
      words_.skip_blanks();
    }
  }

  Result<bool> skip_test() {
    const std::size_t opened_at = words_.at();
    while (!words_.at_end()) {
      words_.skip_blanks();
      SEXTANT_TRY(const ShellWord word, next_word());
      if (plain_text(word) == "]]") {
        return true;
      }
      if (word.pieces.empty()) {
        words_.skip(1);
      }
    }
    return invalid("the test [[ that opens here is never closed", words_.where(opened_at));
  }

  Result<ShellWord> next_word() {
    SEXTANT_TRY(ShellWord word, words_.word());
    if (++count_ > kMaxShellWords) {
      return invalid(fmt::format("{} has more than {} words", name_, kMaxShellWords),
                     words_.where(words_.at()));
    }
    return word;
  }

  Result<void> simple_command(ShellCommand& command, ShellWord word) {
    bool declares = false;
    while (!word.pieces.empty() || words_.looking_at("<(") || words_.looking_at(">(")) {
      SEXTANT_TRY(const bool assigned, command.words.empty() || declares ? assignment(command, word)
                                                                         : Result<bool>(false));
      if (!assigned) {
        command.words.push_back(std::move(word));
        declares = declares || is_one_of(plain_text(command.words[0]),
                                         {"export", "declare", "typeset", "local", "readonly"});
      }
      SEXTANT_TRY(const bool function, is_function(command));
      if (function) {
        return {};
      }
      SEXTANT_CHECK_OK(skip_redirections());
      SEXTANT_TRY(word, next_word());
    }
    if (declares) {
      finish_declaration(command);
    }
    return {};
  }

  // name(): what follows is its body.
  Result<bool> is_function(ShellCommand& command) {
    if (command.words.size() != 1) {
      return false;
    }
    words_.skip_blanks();
    if (words_.peek() != '(') {
      return false;
    }
    words_.skip(1);
    SEXTANT_CHECK_OK(words_.skip_to_closing(')'));
    command.words.clear();
    function_branch_ = ++branch_;
    return true;
  }

  // `export A B=1`: what `export` makes is exported, and so is a name alone.
  static void finish_declaration(ShellCommand& command) {
    bool exports = plain_text(command.words[0]) == "export";
    for (std::size_t i = 1; i < command.words.size(); ++i) {
      const std::string_view text = plain_text(command.words[i]);
      exports = exports || (text.starts_with('-') && text.find('x') != std::string_view::npos);
      if (is_shell_name(text)) {
        ShellAssignment assignment;
        assignment.name = text;
        assignment.offset = command.words[i].offset;
        command.assignments.push_back(std::move(assignment));
      }
    }
    for (ShellAssignment& assignment : command.assignments) {
      assignment.exported = exports;
    }
    command.words.clear();
  }

  // NAME=…, NAME+=…, NAME[i]=…: taken off the command's words.
  Result<bool> assignment(ShellCommand& command, ShellWord& word) {
    if (word.pieces.empty() || word.pieces[0].kind != ShellPiece::Kind::kText ||
        word.pieces[0].quoted) {
      return false;
    }
    ShellPiece& first = word.pieces[0];
    const std::size_t equals = first.text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return false;
    }
    std::string_view name = std::string_view(first.text).substr(0, equals);
    ShellAssignment made;
    made.offset = word.offset;
    if (name.ends_with('+')) {
      made.appends = true;
      name.remove_suffix(1);
    }
    if (const std::size_t bracket = name.find('[');
        bracket != std::string_view::npos && name.ends_with(']')) {
      made.index = name.substr(bracket + 1, name.size() - bracket - 2);
      name = name.substr(0, bracket);
    }
    if (!is_shell_name(name)) {
      return false;
    }
    made.name = name;
    if (words_.peek() == '(' && words_.at() == word.offset + equals + 1) {
      made.array = true;
      words_.skip(1);
      SEXTANT_TRY(made.values, array_values());
    } else {
      first.text.erase(0, equals + 1);
      first.offset += equals + 1;
      first.length -= equals + 1;
      word.offset += equals + 1;
      word.length -= equals + 1;
      made.values.push_back(std::move(word));
    }
    command.assignments.push_back(std::move(made));
    return true;
  }

  Result<std::vector<ShellWord>> array_values() {
    const std::size_t opened_at = words_.at();
    std::vector<ShellWord> values;
    while (true) {
      skip_lines();
      if (words_.at_end()) {
        return invalid("the array ( that opens here is never closed", words_.where(opened_at - 1));
      }
      if (words_.peek() == ')') {
        words_.skip(1);
        return values;
      }
      SEXTANT_TRY(ShellWord word, next_word());
      if (word.pieces.empty()) {
        return invalid(fmt::format("'{}' inside an array", words_.peek()),
                       words_.where(words_.at()), "words and comments");
      }
      values.push_back(std::move(word));
    }
  }

  Result<void> skip_redirections() {
    while (true) {
      words_.skip_blanks();
      SEXTANT_TRY(const bool redirected, redirection());
      if (!redirected) {
        return {};
      }
    }
  }

  // "2> file", "&>file", "<<EOF", "<<<word": passed over with the word they take.
  Result<bool> redirection() {
    std::size_t digits = 0;
    while (words_.peek(digits) >= '0' && words_.peek(digits) <= '9') {
      ++digits;
    }
    const bool both = words_.looking_at("&>");
    const char sign = words_.peek(both ? 1 : digits);
    if (sign != '<' && sign != '>') {
      return false;
    }
    words_.skip(both ? 1 : digits);
    const bool here = words_.looking_at("<<") && !words_.looking_at("<<<");
    while (std::string_view("<>&|").find(words_.peek()) != std::string_view::npos &&
           !words_.at_end()) {
      words_.skip(1);
    }
    if (words_.peek() == '(') {
      words_.skip(1);
      SEXTANT_CHECK_OK(words_.skip_to_closing(')'));
      return true;
    }
    const bool tabs = here && words_.peek() == '-';
    words_.skip(tabs ? 1 : 0);
    words_.skip_blanks();
    SEXTANT_TRY(const ShellWord target, next_word());
    if (here) {
      std::string ends_with;
      for (const ShellPiece& piece : target.pieces) {
        ends_with += piece.text;
      }
      here_documents_.emplace_back(std::move(ends_with), target.offset);
    }
    return true;
  }

  Result<void> skip_here_documents() {
    for (const auto& [ends_with, opened_at] : std::exchange(here_documents_, {})) {
      while (true) {
        if (words_.at_end()) {
          return invalid(fmt::format("the here-document {} that opens here is never closed",
                                     printable(ends_with)),
                         words_.where(opened_at));
        }
        const std::string_view rest = words_.text().substr(words_.at());
        const std::string_view line = rest.substr(0, rest.find('\n'));
        words_.skip(std::min(line.size() + 1, rest.size()));
        if (trimmed(line) == ends_with) {
          break;
        }
      }
    }
    return {};
  }

  std::string_view text_;
  ShellWords words_;
  std::string_view name_;
  std::vector<ShellCommand> commands_;
  std::vector<Block> blocks_;
  std::vector<int> chain_;  // branches of the && and || list being read
  int branch_ = 0;
  int function_branch_ = 0;
  std::size_t count_ = 0;
  std::vector<std::pair<std::string, std::size_t>> here_documents_;
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
