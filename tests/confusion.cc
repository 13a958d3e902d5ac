#include "confusion.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/scratch_folder_testing.h"
#include "diagnose/rule_book.h"
#include "made_profiles.h"
#include "profile/testing.h"

namespace sextant::tests {

metrics::Summary summary_of_run(const MadeRun& run) {
  const ScratchFolder folder;
  metrics::Summary summary;
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    const std::string path =
        folder.write(fmt::format("rank{}.json", rank), kineto_profile(run, rank));
    const auto recording = profile::read_profile(path, profile::options_of_tests());
    if (!recording) {
      throw std::runtime_error(to_text(recording.error()));
    }
    summary = merge(std::move(summary), metrics::summarize(*recording));
  }
  return summary;
}

DiagnosedRun diagnosed_run(const MadeRun& run) {
  const metrics::Summary summary = summary_of_run(run);
  return {diagnose::diagnosis_of(diagnose::scene_of(summary, {}, 85.03_GB)), true_step(run)};
}

const diagnose::Finding* first_cause(const diagnose::Diagnosis& diagnosis) {
  const auto first = std::ranges::find_if(
      diagnosis.findings, [](const diagnose::Finding& one) { return !one.explained_by; });
  return first == diagnosis.findings.end() ? nullptr : &*first;
}

std::string_view rule_of(FaultKind kind) {
  const auto word = std::ranges::find(kFaultWords, kind, &FaultWord::kind);
  return word == kFaultWords.end() ? std::string_view() : word->rule;
}

std::string_view fault_word(FaultKind kind) {
  const auto word = std::ranges::find(kFaultWords, kind, &FaultWord::kind);
  return word == kFaultWords.end() ? std::string_view("none") : word->word;
}

const diagnose::Finding* FaultResult::expected() const {
  const auto found = std::ranges::find(with.diagnosis.findings, rule_of(made.fault.kind),
                                       &diagnose::Finding::rule);
  return found == with.diagnosis.findings.end() ? nullptr : &*found;
}

bool FaultResult::is_right() const {
  const diagnose::Finding* first = first_cause(with.diagnosis);
  return first != nullptr && first->rule == rule_of(made.fault.kind);
}

bool FaultResult::is_claim_kept() const {
  const diagnose::Finding* finding = expected();
  return finding != nullptr && saving() <= finding->per_step && finding->per_step <= saving() * 2.0;
}

FaultResult fault_result(FaultKind kind, std::uint64_t seed) {
  FaultResult result;
  result.made = fault_case(kind, seed);
  const MadeCase& made = made_case(result.made.job);
  result.with = diagnosed_run(made_run(made.job, result.made.plan, result.made.fault));
  MadeFault without;
  if (kind == FaultKind::kSequenceImbalance) {
    without = result.made.fault;
    without.is_mended = true;
  }
  result.step_without = true_step(made_run(made.job, result.made.plan, without));
  if (kind == FaultKind::kPipelineBubble) {
    // So many of the microbatches of a step that has enough of them.
    result.step_without *= result.made.fault.size / result.made.plan.microbatches;
  }
  return result;
}

PlainResult plain_result(JobKind kind, std::uint64_t seed) {
  const MadeCase& made = made_case(kind);
  MadePlan plan = made.plan;
  plan.seed = seed;
  return {kind, diagnosed_run(made_run(made.job, plan, {}))};
}

ConfusionResults confusion_results(std::uint64_t first, std::uint64_t last) {
  ConfusionResults results;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    for (const FaultWord& word : kFaultWords) {
      results.faults.push_back(fault_result(word.kind, seed));
    }
    for (const JobKind job : kJobs) {
      results.plain.push_back(plain_result(job, seed));
    }
  }
  return results;
}

std::set<std::string, std::less<>> known_rules() {
  std::set<std::string, std::less<>> known;
  const auto book = diagnose::RuleBook::load(describe::DataStore());
  if (book) {
    for (const diagnose::Rule& rule : book->rules()) {
      known.insert(rule.id);
    }
  }
  return known;
}

}  // namespace sextant::tests
