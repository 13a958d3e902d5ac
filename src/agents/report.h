// What a tuning session ends with: the analysis, at most three distinct proposals in order, each
// with its verdict, what was thought of and turned down, and what to run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agents/analysis.h"
#include "verify/proposal.h"
#include "verify/verdict.h"

namespace sextant::agents {

inline constexpr std::size_t kProposals = 3;

// What it should do to each of these, against the run as it stands: "lower", "about 12 % lower".
struct Impact {
  std::string step;
  std::string duty;
  std::string communication;
  std::string memory;
};

struct Judged {
  verify::Proposal proposal;
  verify::Verdict verdict;
  std::string mesh = {};    // "data=16,model=8,seq=4", "tp=8,pp=4,dp=2": of the whole job
  std::string layout = {};  // of the whole job, as a layout is typed; "": not known without a model
  Impact impact = {};
  // How often the first of such proposals turned out faster where that was measured.
  std::optional<double> confidence = {};
  std::vector<std::string> run = {};  // commands, to try it
};

struct Report {
  Analysis analysis;
  std::vector<Judged> proposals;     // accepted ones first
  std::vector<Judged> turned_down;   // that somebody thought of, with why not
  std::vector<Judged> ideas = {};    // the user's own that are not among the proposals
  std::optional<std::string> fewer;  // why there are fewer than three
  std::optional<std::string> keep;   // why the job should stay as it is
};

}  // namespace sextant::agents
