// What the model says of a practice: its jobs are estimated before and after the change, by the
// same road as `sextant estimate` (machine::step_machine, step::whole_estimate).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "describe/data_store.h"
#include "kb/practice.h"
#include "machine/machine.h"
#include "step/step_answer.h"

namespace sextant::kb {

enum class Outcome { kAgrees, kDisagrees, kNotApplicable };
inline constexpr std::array<describe::Word<Outcome>, 3> kOutcomeWords{
    {{Outcome::kAgrees, "agrees"},
     {Outcome::kDisagrees, "disagrees"},
     {Outcome::kNotApplicable, "not applicable"}}};

// One side of the change, as the model sees it.
struct Sight {
  Seconds step;
  std::vector<step::StepTerm> terms;  // they add up to the step
  Seconds exposed;                    // communication among them
  Bytes memory;                       // of the fullest device
  Bytes available;
  bool fits = false;
  double value = 0;                 // of the practice's quantity, in its base unit; fits: 0 or 1
  std::vector<std::string> broken;  // ids of rules, where a rule is the check
};

struct JobAgreement {
  std::string job;  // "job1"
  Sight before;
  Sight after;
  // Value after over value before; nothing where before is 0, or the quantity is no number.
  std::optional<double> ratio;
  std::optional<Direction> seen;  // nothing where nothing was compared
  Outcome outcome = Outcome::kNotApplicable;
  std::string why;
};

struct Agreement {
  std::string practice;  // its id
  // Of all jobs: disagrees where one does, not applicable where one is not or nothing checks it.
  Outcome outcome = Outcome::kNotApplicable;
  std::string why;  // of the job that decided
  std::vector<JobAgreement> jobs;
};

// An Error where a job cannot be made of its words (a model or a cluster that nobody knows).
// A job that is not legal, has no known machine, or does not fit where a time is asked for is "not
// applicable", with what stands in the way.
Result<Agreement> check(const Practice& practice, const describe::DataStore& data);

// Of every practice of the book, in its order.
Result<std::vector<Agreement>> check_all(const PracticeBook& book, const describe::DataStore& data);

}  // namespace sextant::kb
