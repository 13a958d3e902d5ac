// A candidate that was judged once, told in full: its claims about what moves, why it answers what
// holds the job up, what it trades, and what is expected of step, duty, communication and memory.
#pragma once

#include <string>
#include <vector>

#include "agents/job_candidates.h"
#include "agents/report.h"
#include "kb/entry.h"

namespace sextant::agents {

struct Told {
  const Standing& standing;
  const Analysis& analysis;
};

// The draft with what its verdict lets be said: claims that hold, citations that stand, reasoning
// and trade-offs. To be judged again.
verify::Proposal told_proposal(const verify::Proposal& draft, const verify::Verdict& verdict,
                               const Told& told);
Impact impact_of_verdict(const verify::Proposal& proposal, const verify::Verdict& verdict);

// Entries that speak of a key that the layout changes, as citations, at most `most`; those of the
// draft are left out.
std::vector<verify::Citation> citations_about(const JobCandidate& candidate,
                                              const std::vector<kb::Entry>& entries,
                                              const Standing& standing, std::size_t most);

}  // namespace sextant::agents
