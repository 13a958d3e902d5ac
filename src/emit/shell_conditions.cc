#include "emit/shell_conditions.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace sextant::emit {
namespace {

constexpr int kMostTestBrackets = 16;  // in each other, in one test

Truth truth_of(bool yes) {
  return yes ? Truth::kYes : Truth::kNo;
}
Truth opposite_of(Truth truth) {
  return truth == Truth::kUnknown ? truth : truth_of(truth == Truth::kNo);
}
Truth both(Truth a, Truth b) {
  if (a == Truth::kNo || b == Truth::kNo) {
    return Truth::kNo;
  }
  return a == Truth::kYes && b == Truth::kYes ? Truth::kYes : Truth::kUnknown;
}
Truth either(Truth a, Truth b) {
  return opposite_of(both(opposite_of(a), opposite_of(b)));
}

// bash's patterns without brackets: * and ?.
bool matches(std::string_view text, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t in = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (at < text.size()) {
    if (in < pattern.size() && (pattern[in] == '?' || pattern[in] == text[at]) &&
        pattern[in] != '*') {
      ++at;
      ++in;
    } else if (in < pattern.size() && pattern[in] == '*') {
      star = in++;
      resume = at;
    } else if (star != std::string_view::npos) {
      in = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in) == std::string_view::npos;
}

// What a word of a test comes to.
struct Operand {
  std::optional<std::string> text;  // nothing: not known
  bool unset = false;               // a variable by itself that nothing sets
  std::string bare;                 // the word where it is unquoted text: an operator, maybe
};

class Test {
 public:
  explicit Test(std::vector<Operand> operands) : operands_(std::move(operands)) {}

  Truth truth() {
    const Truth truth = any(0);
    return at_ == operands_.size() ? truth : Truth::kUnknown;
  }

 private:
  [[nodiscard]] bool looking_at(std::initializer_list<std::string_view> words) const {
    return at_ < operands_.size() && is_one_of(operands_[at_].bare, words);
  }

  Truth any(int depth) {
    Truth truth = all(depth);
    while (looking_at({"||", "-o"})) {
      ++at_;
      truth = either(truth, all(depth));
    }
    return truth;
  }

  Truth all(int depth) {
    Truth truth = one(depth);
    while (looking_at({"&&", "-a"})) {
      ++at_;
      truth = both(truth, one(depth));
    }
    return truth;
  }

  Truth one(int depth) {
    if (at_ >= operands_.size() || depth > kMostTestBrackets) {
      at_ = operands_.size();
      return Truth::kUnknown;
    }
    if (looking_at({"!"}) && at_ + 1 < operands_.size()) {
      ++at_;
      return opposite_of(one(depth + 1));
    }
    if (looking_at({"("})) {
      ++at_;
      const Truth truth = any(depth + 1);
      if (looking_at({")"})) {
        ++at_;
      }
      return truth;
    }
    const std::string& sign = operands_[at_].bare;
    const bool unary = sign.size() == 2 && sign[0] == '-' && at_ + 1 < operands_.size();
    if (unary) {
      const Operand& of = operands_[at_ + 1];
      at_ += 2;
      if (sign == "-n" || sign == "-z") {
        const Truth empty = is_empty(of);
        return sign == "-z" ? empty : opposite_of(empty);
      }
      return Truth::kUnknown;  // files, and what else the machine knows
    }
    if (at_ + 2 < operands_.size() && is_comparison(operands_[at_ + 1].bare)) {
      at_ += 3;
      return compared(operands_[at_ - 3], operands_[at_ - 2].bare, operands_[at_ - 1]);
    }
    return opposite_of(is_empty(operands_[at_++]));
  }

  static Truth is_empty(const Operand& operand) {
    if (operand.unset) {
      return Truth::kYes;
    }
    return operand.text ? truth_of(operand.text->empty()) : Truth::kUnknown;
  }

  static bool is_comparison(std::string_view sign) {
    return is_one_of(sign,
                     {"=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "=~", "<", ">"});
  }

  static Truth compared(const Operand& left, std::string_view sign, const Operand& right) {
    const bool as_text = is_one_of(sign, {"=", "==", "!="});
    if (as_text && (left.unset || right.unset)) {
      const Truth empty = is_empty(left.unset ? right : left);
      return empty == Truth::kYes ? truth_of(sign != "!=") : Truth::kUnknown;
    }
    if (!left.text || !right.text) {
      return Truth::kUnknown;
    }
    if (as_text) {
      const bool pattern = !right.bare.empty() && right.bare.find('[') == std::string::npos;
      const bool same = pattern ? matches(*left.text, *right.text) : *left.text == *right.text;
      return truth_of(same == (sign != "!="));
    }
    const auto a = to_integer(*left.text);
    const auto b = to_integer(*right.text);
    return a && b && sign[0] == '-' ? compared_numbers(*a, sign, *b) : Truth::kUnknown;
  }

  static Truth compared_numbers(std::int64_t left, std::string_view sign, std::int64_t right) {
    return truth_of(sign == "-eq"   ? left == right
                    : sign == "-ne" ? left != right
                    : sign == "-lt" ? left < right
                    : sign == "-le" ? left <= right
                    : sign == "-gt" ? left > right
                                    : left >= right);
  }

  std::vector<Operand> operands_;
  std::size_t at_ = 0;
};

// Known text: no run of it is unknown or hangs on another branch.
std::optional<std::string> known_text(const ShellRuns& runs, const ShellSpot& spot) {
  for (const ShellRun& run : runs) {
    const bool here =
        run.branch == 0 || std::ranges::find(spot.branches, run.branch) != spot.branches.end();
    if (!run.why.empty() || !here) {
      return std::nullopt;
    }
  }
  return text_of(runs);
}

// The variable that the word is, and nothing else.
const ShellPiece* lone_variable(const ShellWord& word) {
  const ShellPiece* only = nullptr;
  for (const ShellPiece& piece : word.pieces) {
    if (piece.kind == ShellPiece::Kind::kText && piece.text.empty()) {
      continue;
    }
    if (only != nullptr || piece.kind != ShellPiece::Kind::kVariable) {
      return nullptr;
    }
    only = &piece;
  }
  return only != nullptr && only->operation.empty() && !only->counts ? only : nullptr;
}

Result<Operand> operand_of(const ShellWord& word, const ShellSpot& spot, ShellState& state) {
  Operand operand;
  operand.bare = plain_text(word);
  if (const ShellPiece* variable = lone_variable(word)) {
    if (variable->text == "#" && state.is_unset("1")) {
      operand.text = "0";  // started without arguments, as far as is known
      return operand;
    }
    operand.unset = state.is_unset(variable->text);
    const bool argument = to_integer(variable->text) || is_one_of(variable->text, {"@", "*"});
    if (operand.unset && argument) {
      operand.text = "";  // the same
      operand.unset = false;
      return operand;
    }
  }
  SEXTANT_TRY(const ShellRuns runs, state.joined(word.pieces, spot));
  operand.text = known_text(runs, spot);
  return operand;
}

Result<Truth> test_truth(const std::vector<ShellWord>& words, const ShellSpot& spot,
                         ShellState& state) {
  constexpr std::size_t kMostOperands = 64;
  if (words.size() > kMostOperands) {
    return Truth::kUnknown;
  }
  std::vector<Operand> operands;
  for (const ShellWord& word : words) {
    SEXTANT_TRY(Operand operand, operand_of(word, spot, state));
    operands.push_back(std::move(operand));
  }
  return Test(std::move(operands)).truth();
}

Result<Truth> arithmetic_truth(const std::string& expression, const ShellSpot& spot,
                               ShellState& state) {
  ShellPiece piece;
  piece.kind = ShellPiece::Kind::kArithmetic;
  ShellWords inside(expression, "");
  auto operand = inside.quoted_text(0);
  if (!operand) {
    return Truth::kUnknown;
  }
  piece.operand = *std::move(operand);
  SEXTANT_TRY(const ShellRuns runs, state.joined(std::span(&piece, 1), spot));
  const auto text = known_text(runs, spot);
  const auto value = text ? to_integer(*text) : std::nullopt;
  return value ? truth_of(*value != 0) : Truth::kUnknown;
}

Result<Truth> case_truth(const ShellBranch& branch, const ShellSpot& spot, ShellState& state) {
  SEXTANT_TRY(const Operand subject, operand_of(branch.subject.front(), spot, state));
  if (subject.unset || !subject.text) {
    return Truth::kUnknown;
  }
  Truth truth = Truth::kNo;
  for (std::string_view pattern : branch.patterns) {
    const bool quoted = pattern.size() >= 2 && pattern.front() == pattern.back() &&
                        (pattern.front() == '"' || pattern.front() == '\'');
    pattern = quoted ? pattern.substr(1, pattern.size() - 2) : pattern;
    if (pattern.find_first_of("$`[\\\"'(@+!") != std::string_view::npos) {
      truth = either(truth, Truth::kUnknown);
    } else {
      truth = either(truth,
                     truth_of(quoted ? pattern == *subject.text : matches(*subject.text, pattern)));
    }
  }
  return truth;
}

}  // namespace

Result<Truth> branch_is_taken(const ShellBranch& branch, const ShellSpot& spot, ShellState& state) {
  if (!branch.subject.empty()) {
    return case_truth(branch, spot, state);
  }
  if (branch.terms.empty()) {
    return Truth::kUnknown;
  }
  Truth truth = Truth::kYes;
  for (const ShellTerm& term : branch.terms) {
    Truth one = Truth::kUnknown;
    if (term.kind == ShellTerm::Kind::kTest) {
      SEXTANT_TRY(one, test_truth(term.words, spot, state));
    } else if (term.kind == ShellTerm::Kind::kArithmetic) {
      SEXTANT_TRY(one, arithmetic_truth(term.arithmetic, spot, state));
    }
    one = term.negated ? opposite_of(one) : one;
    truth = term.or_else ? either(truth, one) : both(truth, one);
  }
  return branch.negated ? opposite_of(truth) : truth;
}

}  // namespace sextant::emit
