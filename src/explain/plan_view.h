// Which layout is best: the winner and what bounds it, what would move it, the runners-up with what
// decided, why a layout the user names lost, and how the search went.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "describe/assumption.h"
#include "describe/layout/job.h"
#include "explain/emit_view.h"
#include "explain/estimate_view.h"
#include "explain/provenance.h"
#include "explain/step_result.h"
#include "explain/style.h"
#include "search/find.h"
#include "search/proof.h"

namespace sextant::explain {

// A layout with everything that is said of its step.
struct PlanRow {
  describe::Layout layout;
  std::int64_t dp = 1;
  std::string words;  // as --layout takes it
  std::string mesh;   // in JAX's words, "ici:fsdp=64,tensor=4;dcn:data=2"; "": no JAX framework
  step::Estimate result;
};

// The winner's machine changed, or its cluster grown.
struct PlanShift {
  std::string what;  // "NIC x 2"
  Seconds step;      // of the same layout, or of `words` where searched again
  std::string words;
  std::string why_not;  // nothing could be planned: the reason
};

// A layout the user asked about.
struct WhyNot {
  std::string words;
  std::vector<std::string> broken;   // rules; `row` is nothing where there are any
  std::vector<std::string> outside;  // keys and values that the search does not try, and why
  std::optional<PlanRow> row;
  Bytes missing;  // 0 or less: it fits
};

// One change on the way from the user's layout to the plan.
struct PlanStep {
  std::string change;  // "mbs=2,recompute=full"
  Seconds before;
  Seconds after;
};
struct PlanPath {
  PlanRow start;
  std::vector<std::string> broken;  // rules that the start breaks
  Bytes missing;                    // of the start; 0 or less: it fits
  std::vector<PlanStep> steps;      // the most gain for each key first
  PlanRow end;                      // after all of them
};

// The best layout of another number of devices.
struct PlanCount {
  std::int64_t devices = 0;
  std::optional<PlanRow> row;  // nothing: no layout is legal and fits, or it was not asked
  std::optional<TrainingRun> training;
  bool meets = false;  // fits, and in time where there is a deadline
};

// The best layout where something that changes convergence has another value.
struct PlanFreed {
  std::string what;            // "gbs=512,precision=fp8"
  std::optional<PlanRow> row;  // nothing: no layout is legal and fits
  bool chosen = false;
};

// What another way to choose finds.
struct PlanBaseline {
  std::string name;   // "megatron-rule"
  std::string words;  // "": nothing that is legal and fits, or too many layouts to try
  Seconds step;
  search::Calls calls;
};

// Why there is no plan.
struct NoPlan {
  std::vector<std::string> broken;   // rules that the fixed keys break by themselves
  std::vector<std::string> freed;    // "tp": freed alone, there are layouts
  std::optional<PlanRow> leanest;    // needs the least memory
  Bytes missing;                     // of it
  std::vector<std::string> changes;  // what would make it fit, the nearest first
};

struct PlanAnswer {
  Provenance provenance;
  describe::Job job;  // its layout: formats, kernels and what was fixed
  std::vector<std::string> fixed;
  std::string objective;
  double headroom = 0.0;
  Bytes limit;                 // of a device's memory, headroom apart
  std::vector<PlanRow> plans;  // the best of each mesh; the first is the answer
  std::vector<PlanRow> front;  // fastest first; empty where not asked for
  std::optional<TrainingRun> training;
  std::vector<PlanShift> shifts;
  std::optional<WhyNot> why_not;
  std::optional<PlanPath> path;
  std::vector<PlanCount> counts;
  std::vector<PlanFreed> freed;
  std::optional<double> days;  // the deadline
  std::optional<NoPlan> none;
  std::vector<PlanBaseline> baselines;
  std::optional<search::Proof> proof;
  search::Settled settled;
  search::Calls calls;
  bool complete = true;
  Seconds search_time;
  std::optional<EmitAnswer> files;
  describe::Assumptions assumed;
};

// JSON: schema sextant.plan/2. CSV: the plans.
std::string to_text(const PlanAnswer& answer, const Style& style);

// A term of two steps, in the order of step_terms.
struct TermChange {
  step::StepTerm term;  // of the first step
  Seconds longer;       // in the second
};
std::vector<TermChange> term_changes(const step::StepEstimate& from, const step::StepEstimate& to);

// "exposed tp is 120 ms longer, compute 30 ms shorter": what decides between the best and another.
std::string decision_text(const step::Estimate& best, const step::Estimate& other);
// Is the other's time one that the best may well take?
bool inside_interval(const step::Estimate& best, const step::Estimate& other);

// "tp=8 pp=4 dp=2": the axes that are longer than one.
std::string mesh_text(const PlanRow& row);

}  // namespace sextant::explain
