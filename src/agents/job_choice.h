// Which of the judged candidates are proposed, in which order, and why not more.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agents/job_candidates.h"
#include "agents/report.h"
#include "verify/verdict.h"

namespace sextant::agents {

struct RankedCandidate {
  JobCandidate candidate = {};
  verify::Verdict verdict = {};
  std::string pinned = {};  // a pinned key that it changes; "": none
  bool is_first = false;    // the planner's first, where no layout runs
};

struct Choice {
  std::vector<RankedCandidate> proposed;     // at most kProposals, the best first
  std::vector<RankedCandidate> turned_down;  // rejected: the user's, and a few others
  std::vector<RankedCandidate> ideas;        // the user's that are neither
  std::optional<std::string> fewer;
  std::optional<std::string> keep;
};

// Ranked by verify::stands_before: what may be advised, then what nothing decides, each the fastest
// first, but what the planner recommends goes before what is faster by less than can be told.
// Proposed are those that differ from the ones before them: another mesh (is_like_mesh), or
// on the same mesh another kind of change; of layouts that somebody gave, any. Nothing that is
// predicted to be no faster is proposed, unless there is nothing to be faster than, or somebody
// gave it and the models cannot tell.
// A setting that mends what the run shows takes the last place where layouts would fill all.
Choice chosen(std::vector<RankedCandidate> candidates, const Standing& standing, bool is_given);

// Of the planner's first where no layout runs: legal, and within memory.
verify::Verdict first_verdict(const Standing& standing);
// Where there is neither: what was compared with a layout that nobody runs is not. Those that stand
// are legal and fit.
verify::Verdict uncompared(verify::Verdict verdict, const Standing& standing);
// Rejected, since it changes what was pinned.
verify::Verdict pinned_verdict(verify::Verdict verdict, const std::string& key);

}  // namespace sextant::agents
