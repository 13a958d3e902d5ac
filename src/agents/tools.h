// What an agent may ask while it reasons. `app` fills this in; a tool that is empty is not there
// (no knowledge base, no planner), and an agent does without. Every call and reply goes by `note`
// into the Sharding Memory, whoever makes it: the built-in reasoner or a language model.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kb/entry.h"
#include "kb/log.h"
#include "kb/search.h"
#include "search/plan_path.h"
#include "search/task.h"
#include "step/step_answer.h"
#include "verify/proposal.h"
#include "verify/verdict.h"

namespace sextant::agents {

struct Tools {
  // What is known that helps, best first.
  std::function<Result<std::vector<kb::Entry>>(const kb::Question&)> search = {};
  // The layout that the planner recommends, then the fastest ones of the job, each of another mesh;
  // keys that somebody pinned keep their values.
  std::function<Result<std::vector<search::PlanRow>>(std::size_t most)> plan = {};
  // The changes from the job as it stands to the fastest layout, the one that gains most first.
  std::function<Result<search::PlanPath>(const describe::Layout& to)> path = {};
  // A layout as it is typed, of the whole job.
  std::function<Result<step::Estimate>(std::string_view layout)> estimate = {};
  std::function<verify::Verdict(const verify::Proposal&)> judge = {};
  // The same of the job as if it stood at that layout; empty: nothing is held to a layout that
  // does not run yet.
  std::function<verify::Verdict(const verify::Proposal&, const describe::Layout& at)> judge_at = {};
  std::function<void(kb::EventKind, std::string text)> note = {};
};

}  // namespace sextant::agents
