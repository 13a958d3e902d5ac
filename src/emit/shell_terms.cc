#include "emit/shell_terms.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "emit/shell_arithmetic.h"

namespace sextant::emit {
namespace {

std::vector<ShellTerm> within_limit(const std::vector<ShellTerm>& terms) {
  return terms.size() > kMaxShellTerms ? std::vector<ShellTerm>{} : terms;
}

ShellAssignment computed(std::string name, std::size_t offset) {
  ShellAssignment set;
  set.name = std::move(name);
  set.offset = offset;
  set.computed = true;
  return set;
}

// The part of "NAME=expression" and "NAME+=expression" behind the sign, and whether it adds.
struct ArithmeticSet {
  std::size_t value = 0;
  bool adds = false;
};
std::optional<ArithmeticSet> lone_set(std::string_view inside) {
  const std::size_t first = inside.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t name_end =
      std::min(inside.find_first_not_of(kShellNameCharacters, first), inside.size());
  const std::size_t sign = inside.find_first_not_of(" \t", name_end);
  if (sign == std::string_view::npos || !is_shell_name(inside.substr(first, name_end - first))) {
    return std::nullopt;
  }
  const bool adds = inside.substr(sign).starts_with("+=");
  const std::size_t value = sign + (adds ? 2 : 1);
  const bool plain = adds || (inside[sign] == '=' && !inside.substr(value).starts_with('='));
  return plain ? std::optional(ArithmeticSet{value, adds}) : std::nullopt;
}

}  // namespace

void ShellTerms::add(ShellTerm term) {
  term.negated = std::exchange(negated_, false);
  term.or_else = std::exchange(or_else_, false);
  if (list_.size() <= kMaxShellTerms) {
    list_.push_back(std::move(term));
  }
}

void ShellTerms::end_list() {
  if (!list_.empty()) {
    last_ = std::exchange(list_, {});
  }
  or_else_ = false;
}

std::vector<ShellTerm> ShellTerms::so_far() const {
  return within_limit(list_);
}

std::vector<ShellTerm> ShellTerms::take() {
  std::vector<ShellTerm> terms = within_limit(list_.empty() ? last_ : list_);
  list_.clear();
  last_.clear();
  return terms;
}

ShellTerm term_of(const ShellCommand& command) {
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

Result<std::vector<ShellAssignment>> set_by_arithmetic(std::string_view text, std::size_t start,
                                                       std::size_t length) {
  const std::string_view inside = text.substr(start, length);
  std::vector<std::string> names = names_set(inside);
  std::vector<ShellAssignment> sets;
  const auto lone = names.size() == 1 ? lone_set(inside) : std::nullopt;
  if (!lone) {
    for (std::string& name : names) {
      sets.push_back(computed(std::move(name), start));
    }
    return sets;
  }
  ShellAssignment set;
  set.name = std::move(names.front());
  set.offset = start;
  ShellPiece piece = piece_at(ShellPiece::Kind::kArithmetic, start, true);
  piece.length = length;
  piece.text = inside.substr(lone->value);
  ShellWords reader(text.substr(0, start + length), "");
  reader.skip(start + lone->value);
  auto operand = reader.quoted_text(0);
  if (!operand) {
    return std::vector{computed(std::move(set.name), start)};
  }
  if (lone->adds) {
    ShellPiece before = piece_at(ShellPiece::Kind::kText, start, true);
    before.text = set.name + "+(";
    ShellPiece after = before;
    after.text = ")";
    piece.operand.push_back(std::move(before));
    piece.operand.insert(piece.operand.end(), operand->begin(), operand->end());
    piece.operand.push_back(std::move(after));
    piece.text = set.name + ' ' + piece.text;  // it mentions its own name
  } else {
    piece.operand = *std::move(operand);
  }
  ShellWord word;
  word.offset = piece.offset;
  word.length = piece.length;
  word.pieces.push_back(std::move(piece));
  set.values.push_back(std::move(word));
  sets.push_back(std::move(set));
  return sets;
}

std::vector<ShellAssignment> set_by_let(const ShellCommand& command) {
  std::vector<ShellAssignment> sets;
  if (command.words.empty() || plain_text(command.words.front()) != "let") {
    return sets;
  }
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const std::string_view word = plain_text(command.words[i]);
    std::string name(word.substr(0, word.find_first_not_of(kShellNameCharacters)));
    if (is_shell_name(name)) {
      sets.push_back(computed(std::move(name), command.words[i].offset));
    }
  }
  return sets;
}

}  // namespace sextant::emit
