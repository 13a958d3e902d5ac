// By which terms two steps differ.
#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "plan_page.h"

namespace sextant::bench {
namespace {

struct Term {
  std::string name;
  double more = 0.0;  // ms that the second has more
};

// The largest first.
std::vector<Term> differences(const step::StepTerms& from, const step::StepTerms& to) {
  std::vector<Term> list{{"compute", (to.compute - from.compute) / 1_ms},
                         {"host", (to.host - from.host) / 1_ms},
                         {"bubble", (to.bubble - from.bubble) / 1_ms},
                         {"update", (to.update - from.update) / 1_ms},
                         {"beside", (to.beside - from.beside) / 1_ms}};
  for (std::size_t i = 0; i < step::kAxes; ++i) {
    list.push_back({fmt::format("{} sent", step::kAxisWords[i].second),
                    (to.exposed.times[i] - from.exposed.times[i]) / 1_ms});
  }
  std::sort(list.begin(), list.end(),
            [](const Term& a, const Term& b) { return std::abs(a.more) > std::abs(b.more); });
  return list;
}

}  // namespace

std::string terms_apart(const step::StepTerms& from, const step::StepTerms& to) {
  constexpr std::size_t kMost = 4;
  constexpr double kLeastShare = 0.01;
  constexpr double kLeast = 0.5;  // ms: what is less is written as 0
  const double all = std::abs((to.step - from.step) / 1_ms);
  std::string text;
  std::size_t shown = 0;
  for (const Term& term : differences(from, to)) {
    const double size = std::abs(term.more);
    if (shown < kMost && size >= kLeastShare * all && size >= kLeast) {
      text += fmt::format("{}{} {:+.0f}", text.empty() ? "" : ", ", term.name, term.more);
      ++shown;
    }
  }
  return text.empty() ? "–" : text;
}

}  // namespace sextant::bench
