// The judge: is a proposal legal, does it fit, is it what it claims to be? A pure function of
// values; it never asks a language model, and nothing reaches a user as advice that it rejects.
//
// In this order, each of which ends the judgement where it says no: the change parses; devices are
// the job's; rules; memory; then every claim, by the interval of a difference between the job as it
// stands and as it would be (step/difference.h). Citations that do not exist or do not say what
// they are cited for are struck; that alone rejects nothing.
#pragma once

#include <span>

#include "diagnose/diagnosis.h"
#include "kb/entry.h"
#include "search/task.h"
#include "verify/proposal.h"
#include "verify/verdict.h"

namespace sextant::verify {

// What proposals are judged by. Everything referred to must outlive it.
struct Bench {
  const search::Task& task;                        // the job as it stands, its machine
  std::span<const kb::Entry> entries = {};         // what may be cited
  const diagnose::Diagnosis* diagnosis = nullptr;  // of the run; null: none was recorded
  std::string_view left_out = {};                  // a source whose rows must not count (tests)
};

Verdict judge(const Proposal& proposal, const Bench& bench);

// The order proposals are shown in: what may run before what may not, then the predicted speed.
bool stands_before(const Verdict& one, const Verdict& other);

}  // namespace sextant::verify
