// Whose time a job waits for, in terms of its mesh: findings of the run where there is one, and the
// model's exposed terms by axis.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/job_standing.h"
#include "agents/tune_job.h"
#include "kb/practice.h"

namespace sextant::agents {

struct JobBlame {
  std::optional<kb::Theme> theme;  // nothing: of no part of a job
  double share = 0.0;              // of the step
  std::string sentence;
};
// The largest first: at most five findings, then at most five terms of the model that take a
// hundredth of the step or more.
std::vector<JobBlame> job_blames(const JobCase& asked, const Standing& standing);

// What a rule of the diagnosis is about; nothing: of no part that a layout decides.
std::optional<kb::Theme> theme_of_rule(std::string_view rule);

}  // namespace sextant::agents
