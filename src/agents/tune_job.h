// The reasoner on a job whose model is known: with or without a recorded run of it, with or without
// a layout that runs. Deterministic; every proposal is judged before anybody sees it.
//
// Candidates come from the planner (the fastest layouts of distinct meshes, and the steps from the
// job's own layout towards them), from the knowledge base (what helped jobs like this, laid over
// this one), from the findings of the run (settings that mend them) and from the user. They are
// ranked by verify::stands_before: what may run first, then the predicted step. Of those at most
// three distinct ones are proposed, what was turned down keeps its reason.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/confidence.h"
#include "agents/report.h"
#include "agents/tools.h"
#include "diagnose/diagnosis.h"
#include "diagnose/rule_book.h"
#include "metrics/kpis.h"
#include "search/task.h"

namespace sextant::agents {

// What was recorded of the job; all of it of the mean step of all ranks.
struct RecordedRun {
  const diagnose::Diagnosis* diagnosis = nullptr;  // null: no step is whole
  const diagnose::RuleBook* book = nullptr;
  std::optional<metrics::Kpis> kpis = {};
  std::vector<metrics::OperatorRoofline> operators = {};
  std::string device = {};              // as the profile has it; "": it does not say
  std::vector<std::string> notes = {};  // what could not be read
};

struct JobCase {
  // The job and its machine; problem.fixed are the keys that somebody pinned. Null: only a run was
  // recorded, of a job that nobody described: no layout is proposed, and the report says what is
  // missing.
  const search::Task* task = nullptr;
  // As it stands; nothing: no layout runs yet, and the planner's first is what others are held to.
  std::optional<describe::Layout> users = {};
  std::vector<describe::Violation> broken = {};  // rules that the job's own files break
  std::vector<Fact> experiment = {};             // what is known, each with its source
  std::optional<RecordedRun> run = {};
  std::optional<Seconds> measured_step = {};  // of a log or the profile
  std::vector<verify::Proposal> ideas = {};   // the user's own, judged beside ours
  // Layouts, as they are typed, to choose among; empty: all legal ones.
  std::vector<std::string> among = {};
  const ConfidenceBook* confidence = nullptr;  // null: nobody says how sure a proposal is
};

// An Error only where a tool fails. REQUIRES: task or run; tools.judge where there is a task.
Result<Report> tune_job(const JobCase& job, const Tools& tools);

}  // namespace sextant::agents
