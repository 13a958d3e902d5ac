// Why a layout the user names is not the plan: a rule, memory, what the search was not asked to
// try, or its terms.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "describe/layout/layout_text.h"
#include "search/task.h"

namespace sextant::search {

// Why the search does not try a layout.
struct Outside {
  enum class Reason {
    kFixed,        // the key is fixed otherwise
    kNotSearched,  // the job has another value, which no search changes
    kNotTried,     // no framework or space has this value
    kCombination,  // each value is tried, all of them together are not
  };
  Reason reason = Reason::kFixed;
  std::string key;  // "" of a combination
  std::string value;
  std::string jobs;  // the value that the job has, of the first two reasons
};

struct WhyNot {
  std::vector<describe::Violation> broken;  // `row` is nothing where there are any
  std::vector<Outside> outside;
  std::optional<PlanRow> row;
  Bytes missing;  // 0 or less: it fits
};

// `best`: the plan, nothing where there is none. Rules about what is stated take `asked.given` as
// stated. REQUIRES: formats and kernels that `asked.given` leaves out are the task's.
WhyNot why_not(const Task& task, const describe::LayoutReading& asked,
               const describe::Layout* best);

}  // namespace sextant::search
