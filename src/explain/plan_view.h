// Which layout is best: the winner and what bounds it, what would move it, the runners-up with what
// decided, why a layout the user names lost, and how the search went.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "describe/assumption.h"
#include "describe/difference_spread.h"
#include "describe/layout/job.h"
#include "explain/emit_view.h"
#include "explain/estimate_view.h"
#include "explain/provenance.h"
#include "explain/step_result.h"
#include "explain/style.h"
#include "search/device_counts.h"
#include "search/find.h"
#include "search/free_choices.h"
#include "search/no_plan.h"
#include "search/plan_path.h"
#include "search/proof.h"
#include "search/recommend.h"
#include "search/shifts.h"
#include "search/task.h"
#include "search/why_not.h"
#include "step/difference.h"
#include "step/training_run.h"

namespace sextant::explain {

// What another way to choose finds.
struct PlanBaseline {
  std::string name;   // "megatron-rule"
  std::string words;  // "": nothing that is legal and fits, or too many layouts to try
  Seconds step;
  search::Calls calls;
};

// Why the layout that is recommended is, and not another.
enum class Recommending {
  kSimpler,    // it gives up little for it
  kFastest,    // nothing simpler is as good: the winner
  kInTime,     // the simpler one misses the deadline: the winner
  kObjective,  // something else than time is asked for: the winner
  kStopped,    // before simpler ones were looked for: the winner so far
};
inline constexpr std::array<describe::Word<Recommending>, 5> kRecommendingWords{
    {{Recommending::kSimpler, "simpler"},
     {Recommending::kFastest, "fastest"},
     {Recommending::kInTime, "in time"},
     {Recommending::kObjective, "objective"},
     {Recommending::kStopped, "stopped"}}};
struct PlanRecommended {
  Recommending why = Recommending::kFastest;
  search::PlanRow row;
  search::Burdens own;
  search::Burdens winners;      // of the first of the plans
  step::Difference difference;  // of the row over it
};

struct PlanAnswer {
  Provenance provenance;
  describe::Job job;  // its layout: formats, kernels and what was fixed
  std::vector<std::string> fixed;
  std::string objective;
  double headroom = 0.0;
  Bytes limit;                         // of a device's memory, headroom apart
  std::vector<search::PlanRow> plans;  // the best of each idea; the first wins by the objective
  std::optional<PlanRecommended> recommended;  // nothing where there is no plan
  std::vector<search::PlanRow> front;          // fastest first; empty where not asked for
  std::optional<step::TrainingRun> training;
  std::vector<search::PlanShift> shifts;
  std::string asked;  // the layout that why_not is of, as the user wrote it
  std::optional<search::WhyNot> why_not;
  std::optional<search::PlanPath> path;
  std::vector<std::string> path_words;  // each of its steps in the user's own settings
  std::vector<search::PlanCount> counts;
  std::vector<search::PlanFreed> freed;
  std::optional<double> days;  // the deadline
  std::optional<search::NoPlan> none;
  std::vector<PlanBaseline> baselines;
  std::optional<search::Proof> proof;
  search::Settled settled;
  search::Calls calls;
  bool complete = true;
  Seconds search_time;
  std::optional<EmitAnswer> files;
  describe::Assumptions assumed;
  std::optional<describe::DifferenceSpreads> differences;  // how well layouts are told apart
  // The layout to run. REQUIRES: there is a plan.
  [[nodiscard]] const search::PlanRow& chosen() const {
    return recommended ? recommended->row : plans.front();
  }
};

// JSON: schema sextant.plan/3. CSV: the plans.
std::string to_text(const PlanAnswer& answer, const Style& style);

// A term of two steps, in the order of step_terms.
struct TermChange {
  step::StepTerm term;  // of the first step
  Seconds longer;       // in the second
};
std::vector<TermChange> term_changes(const step::StepEstimate& from, const step::StepEstimate& to);

// "exposed tp is 120 ms longer, compute 30 ms shorter": what decides between the best and another.
std::string decision_text(const step::Estimate& best, const step::Estimate& other);
// May the row well be as fast as the best: does the interval of their difference hold 1? Nothing
// where no intervals are known. REQUIRES: there is a best.
std::optional<bool> inside_interval(const PlanAnswer& answer, const search::PlanRow& row);
// The same as words.
std::string_view interval_words(const PlanAnswer& answer, const search::PlanRow& row);

// "tp=8 pp=4 dp=2": the axes that are longer than one.
std::string mesh_text(const search::PlanRow& row);

}  // namespace sextant::explain
