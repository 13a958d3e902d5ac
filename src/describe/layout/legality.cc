#include "describe/layout/legality.h"

#include <algorithm>
#include <iterator>

#include "describe/layout/framework_rules.h"

namespace sextant::describe {

std::vector<Violation> broken_rules(const Job& job) {
  std::vector<Violation> found = check_rules(job);
  std::vector<Violation> own = check_framework_rules(job);
  found.insert(found.end(), std::make_move_iterator(own.begin()),
               std::make_move_iterator(own.end()));
  std::stable_sort(found.begin(), found.end(),
                   [](const Violation& a, const Violation& b) { return a.rule < b.rule; });
  return found;
}

bool core_allows(const Job& job) {
  const std::vector<Violation> found = check_rules(job);
  return std::none_of(found.begin(), found.end(), [](const Violation& violation) {
    return violation.severity == Severity::kIllegal;
  });
}

bool is_legal(const Job& job) {
  return framework_allows(job) && core_allows(job);
}

std::vector<Violation> refusals(std::vector<Violation> broken) {
  std::erase_if(
      broken, [](const Violation& violation) { return violation.severity != Severity::kIllegal; });
  return broken;
}

std::vector<Violation> refusals(const Job& job) {
  return refusals(broken_rules(job));
}

}  // namespace sextant::describe
