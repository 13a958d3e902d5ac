#include "app/plan_free.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace sextant::app {

Result<std::vector<search::Free>> freed_kinds(const std::string& text, const PlanProblem& of) {
  std::vector<search::Free> list;
  if (text.empty()) {
    return list;
  }
  for (const std::string_view part : split(text, ',')) {
    const std::string_view word = trimmed(part);
    const auto* const known =
        std::ranges::find(search::kFreeWords, word, &describe::Word<search::Free>::second);
    if (known == search::kFreeWords.end()) {
      return invalid(fmt::format("'{}' cannot be freed", printable(word)), "‹free›",
                     "gbs, seq, precision");
    }
    if (of.problem.is_fixed(word)) {
      return invalid(fmt::format("{} is fixed and freed", word), "‹free›", "one of both");
    }
    if (known->first == search::Free::kLength &&
        of.problem.job.sequences.kind != describe::Sequences::Kind::kFixed) {
      return invalid("packed and variable sequences have lengths of their own", "‹free›",
                     "seq with ‹seq› TOKENS");
    }
    if (std::ranges::find(list, known->first) == list.end()) {
      list.push_back(known->first);
    }
  }
  return list;
}

}  // namespace sextant::app
