// Runs with a fault and without, diagnosed from files: which cause comes first, and whether the
// seconds that a finding claims are those that taking the fault away really saves.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "made_jobs.h"

namespace sextant::tests {

struct DiagnosedRun {
  diagnose::Diagnosis diagnosis;
  Seconds true_step;
};

// Writes the run's profiles into a folder, reads and joins them. Throws where a file that was
// written is not read.
metrics::Summary summary_of_run(const MadeRun& run);
// Asks all rules of that.
DiagnosedRun diagnosed_run(const MadeRun& run);

// The finding that comes first of those that nothing else explains; null: there is none.
const diagnose::Finding* first_cause(const diagnose::Diagnosis& diagnosis);

struct FaultResult {
  FaultCase made;
  DiagnosedRun with;
  Seconds step_without;  // of the same work, without the fault
  [[nodiscard]] Seconds saving() const { return with.true_step - step_without; }
  [[nodiscard]] const diagnose::Finding* expected() const;  // that of the fault's rule
  [[nodiscard]] bool is_right() const;                      // it comes first
  // What it claims is no less than is saved, and no more than twice as much.
  [[nodiscard]] bool is_claim_kept() const;
};
FaultResult fault_result(FaultKind kind, std::uint64_t seed);

// The run of a job without a fault.
struct PlainResult {
  JobKind job = JobKind::kTensor;
  DiagnosedRun run;
};
PlainResult plain_result(JobKind kind, std::uint64_t seed);

// All faults with each of the seeds first … last, and all jobs without.
struct ConfusionResults {
  std::vector<FaultResult> faults;
  std::vector<PlainResult> plain;
};
ConfusionResults confusion_results(std::uint64_t first, std::uint64_t last);

std::string_view rule_of(FaultKind kind);
std::string_view fault_word(FaultKind kind);
// Rules of the book that is built in.
std::set<std::string, std::less<>> known_rules();

}  // namespace sextant::tests
