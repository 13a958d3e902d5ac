#include "search/why_not.h"

#include <fmt/format.h>

#include "describe/layout/layout_words.h"
#include "search/choices.h"
#include "search/space.h"

namespace sextant::search {
namespace {

using describe::Layout;

// Rules about what is stated ask who stated it: the user, here.
std::vector<describe::Violation> broken_as_stated(const Task& task,
                                                  const describe::LayoutReading& asked) {
  Task stated = task;
  stated.problem.job.stated.insert(asked.given.begin(), asked.given.end());
  return broken_rules(stated, asked.layout);
}

// Values that were fixed otherwise, or that no search chooses.
std::vector<Outside> otherwise_fixed(const Problem& problem, const Layout& layout) {
  std::vector<Outside> found;
  for (const auto& [key, value] : describe::layout_values(layout)) {
    const std::string jobs = describe::value_of(problem.job.layout, key);
    if (value == jobs) {
      continue;
    }
    if (problem.is_fixed(key)) {
      found.push_back({Outside::Reason::kFixed, std::string(key), value, jobs});
    } else if (!is_searched(key)) {
      found.push_back({Outside::Reason::kNotSearched, std::string(key), value, jobs});
    }
  }
  return found;
}

// The key that keeps it out of the space: with the plan's value for it, it is inside.
std::vector<Outside> outside_space(const Problem& problem, const Layout& layout,
                                   const Layout* best) {
  Space space(problem);
  std::vector<Outside> found;
  if (space.holds(layout) || best == nullptr) {
    return found;
  }
  for (const auto& [key, value] : describe::layout_values(*best)) {
    const std::string own = describe::value_of(layout, key);
    if (value == own) {
      continue;
    }
    Layout changed = layout;
    if (describe::set_keys(fmt::format("{}={}", key, value), changed) && space.holds(changed)) {
      found.push_back({Outside::Reason::kNotTried, std::string(key), own, {}});
    }
  }
  if (found.empty()) {
    found.push_back({Outside::Reason::kCombination, {}, {}, {}});
  }
  return found;
}

}  // namespace

WhyNot why_not(const Task& task, const describe::LayoutReading& asked, const Layout* best) {
  Layout layout = asked.layout;
  WhyNot answer;
  answer.broken = broken_as_stated(task, asked);
  if (!answer.broken.empty()) {
    return answer;
  }
  // dp that says what is left of the world says nothing.
  describe::Job job = task.problem.job;
  job.layout = layout;
  job.layout.dp = 0;
  if (layout.dp == job.dp() && !task.problem.is_fixed("dp")) {
    layout.dp = 0;
  }
  // Nor does who sends what nobody sends.
  const Choices choices = choices_of(task.problem);
  if (layout.cp == 1) {
    layout.cp_method = choices.cp_methods.front();
  }
  if (layout.ep == 1) {
    layout.dispatcher = choices.dispatchers.front();
  }
  answer.outside = otherwise_fixed(task.problem, layout);
  if (answer.outside.empty()) {
    answer.outside = outside_space(task.problem, layout, best);
  }
  answer.row = plan_row(task, layout);
  answer.missing = answer.row->result.memory.fullest.device - task.problem.available();
  return answer;
}

}  // namespace sextant::search
