// What might be changed about a job, before anybody judges it: layouts of the planner and the steps
// towards them, what the knowledge base says helped elsewhere, settings that mend findings of the
// run, and what the user thought of or chose from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/job_standing.h"
#include "agents/tune_job.h"
#include "kb/entry.h"
#include "search/plan_path.h"
#include "verify/proposal.h"

namespace sextant::agents {

enum class CandidateOrigin { kGiven, kIdea, kPlan, kKnown, kFinding };

struct JobCandidate {
  CandidateOrigin origin = CandidateOrigin::kPlan;
  verify::Proposal proposal = {};
  // Of the whole job; nothing: a setting, or words that do not parse.
  std::optional<describe::Layout> layout = {};
  std::string entry = {};       // of the knowledge base, that it follows; it must stand
  bool is_recommended = false;  // by the planner
};

// Layouts, as they are typed, that the user chooses among; the job's own is left out.
std::vector<JobCandidate> given_candidates(std::span<const std::string> layouts,
                                           const Standing& standing);
std::vector<JobCandidate> idea_candidates(std::span<const verify::Proposal> ideas,
                                          const Standing& standing);
// The first of `rows` before the others; of a path the first change alone, the first two, …
std::vector<JobCandidate> planned_candidates(std::span<const search::PlanRow> rows,
                                             const Standing& standing);
std::vector<JobCandidate> path_candidates(const search::PlanPath& path, const Standing& standing);
// Entries whose change can be laid over the job: keys that stand as the entry has them before (or
// that it does not name there) take its values after; sizes that stand otherwise grow or shrink by
// the same factor. An entry that warns, or that was measured slower, is turned round. Formats of
// numbers and the optimizer stay the job's.
std::vector<JobCandidate> known_candidates(std::span<const kb::Entry> entries,
                                           const Standing& standing);
// For each finding worth mending the first setting of the rule book that the job's framework has.
std::vector<JobCandidate> mending_candidates(const JobCase& asked, const Standing& standing);

// The claims of a change to a job that runs: it is faster. Of one that does not fit: then it does.
std::vector<verify::Claim> first_claims(const Standing& standing);
// A pinned key that has another value there; "": none. What is pinned need not be what runs.
std::string changed_pin(const describe::Layout& layout, const Standing& standing);

}  // namespace sextant::agents
