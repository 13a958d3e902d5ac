// The judge: is a proposal legal, does it fit, is it what it claims to be? A pure function of
// values; it never asks a language model, and nothing reaches a user as advice that it rejects.
//
// In this order, each of which ends the judgement where it says no:
//   words      the change parses and changes something
//   devices    those the proposal states, and the product of its axes, are the job's
//   rules      describe::refusals of the job with the change laid over it. Only what the change
//              breaks counts; what the job breaks as it stands is said apart
//   memory     what the fullest device reserves, within what search::Problem::available leaves it
//              (the planner's headroom). A recorded run fits whatever the model says: what needs no
//              more than it is not rejected either
//   claims     each by the model, before and after: claims.h says how
//   citations  those that do not exist or do not say what they are cited for are struck:
//              citations.h. That alone rejects nothing
// A change that no layout key says is judged by the diagnosis of a run instead: settings.h.
//
// The ruling: rejected where any of the first four says no or a claim is refuted. Undecidable where
// every claim about the step's time cannot be told (its interval holds 1), or there is none and no
// other claim can be told either. Corrected where a size is wrong, another claim cannot be told, or
// a citation is struck. Else accepted.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "describe/difference_spread.h"
#include "diagnose/diagnosis.h"
#include "diagnose/rule_book.h"
#include "kb/entry.h"
#include "search/task.h"
#include "verify/mesh_facts.h"
#include "verify/proposal.h"
#include "verify/verdict.h"

namespace sextant::verify {

// What proposals are judged by. Everything referred to must outlive it.
struct Bench {
  const search::Task& task;  // the job as it stands, its machine
  const describe::DifferenceSpreads& spreads;
  std::span<const kb::Entry> entries = {};         // what may be cited
  const diagnose::Diagnosis* diagnosis = nullptr;  // of the run; null: none was recorded
  const diagnose::RuleBook* advice = nullptr;      // which settings mend a finding; null: not known
  std::string_view left_out = {};                  // a source whose rows must not count (tests)
};

Verdict judge(const Proposal& proposal, const Bench& bench);

// The order proposals are shown in: what may run before what may not (accepted and corrected ones,
// undecidable ones, rejected ones), then the predicted speed. A strict weak order: sort stably.
bool stands_before(const Verdict& one, const Verdict& other);

// Of a job whose model is not published: the same judgement under several assumed models, and what
// they say together.
//
// Words and devices are the same for all. Where rules say no under every model, it is rejected;
// where under some, it is undecidable, and the model's shape is missing. Memory likewise; where
// `facts` are given, assumed models may reject by it but never accept: then it fits only where
// mesh_memory (mesh_facts.h) says so, and then the assumed models' memory does not count. A claim
// holds (or has the wrong size) where it does so under most of them (two of three), and is refuted
// only where every model refutes it; its ratio is the middle one's, its interval holds all theirs.
struct AmongVerdict {
  Verdict together;
  std::vector<Verdict> each;  // as the benches; of a change that is none of the layout, the first
};
// REQUIRES: at least one bench.
AmongVerdict judge_among(const Proposal& proposal, std::span<const Bench> benches,
                         const MeshFacts* facts = nullptr);

}  // namespace sextant::verify
