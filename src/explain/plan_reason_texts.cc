// The reasons that search/ gives, in words.
#include <fmt/format.h>

#include "base/quantity_text.h"
#include "explain/plan_parts.h"
#include "explain/violation_view.h"

namespace sextant::explain {

std::vector<std::string> violation_texts(const std::vector<describe::Violation>& broken) {
  std::vector<std::string> texts;
  for (const describe::Violation& violation : broken) {
    texts.push_back(violation_text(violation));
  }
  return texts;
}

std::string outside_text(const search::Outside& outside) {
  using Reason = search::Outside::Reason;
  std::string pair = fmt::format("{}={}", outside.key, outside.value);
  switch (outside.reason) {
    case Reason::kFixed:
      return fmt::format("{}, but {}={} is fixed", pair, outside.key, outside.jobs);
    case Reason::kNotSearched:
      return fmt::format("{}, but the job has {}={}", pair, outside.key, outside.jobs);
    case Reason::kNotTried:
      return pair;
    case Reason::kCombination:
      break;
  }
  return "this combination, or it is another writing of one that is";
}

std::vector<std::string> remedy_texts(const std::vector<search::Remedy>& changes) {
  constexpr double kHundred = 100.0;
  std::vector<std::string> texts;
  for (const search::Remedy& change : changes) {
    const std::string needed = sextant::to_text(change.needed);
    const std::string available = sextant::to_text(change.available);
    texts.push_back(change.headroom ? fmt::format("‹headroom› {:.1f}%: {} of {} are needed",
                                                  *change.headroom * kHundred, needed, available)
                                    : fmt::format("{}: {} needs {} of {}", change.what,
                                                  change.words, needed, available));
  }
  return texts;
}

}  // namespace sextant::explain
