#include "app/compare_command.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/job_sources.h"
#include "base/integers.h"
#include "describe/difference_spread.h"
#include "describe/layout/job_defaults.h"
#include "describe/layout/layout_text.h"
#include "step/comparison.h"
#include "step/difference.h"
#include "step/step_answer.h"

namespace sextant::app {
namespace {

constexpr std::size_t kMostCandidates = 16;

// One request a candidate, its name being what it varies.
struct AskedCandidate {
  std::string name;
  JobRequest request;
};

Result<std::vector<AskedCandidate>> asked_of(const CompareRequest& request) {
  if (request.clusters.empty()) {
    return invalid("the cluster is missing", "‹on›",
                   "COUNTxDEVICE such as 64xh100-sxm, or a cluster.toml");
  }
  const bool by_cluster = request.clusters.size() > 1;
  if (by_cluster && request.layouts.size() > 1) {
    return invalid("several clusters and several layouts", "«compare»",
                   "several ‹layout› on one ‹on›, or one ‹layout› on several ‹on›");
  }
  const std::vector<std::string>& varied = by_cluster ? request.clusters : request.layouts;
  if (varied.size() < 2) {
    return invalid("there is nothing to compare", "«compare»",
                   "two or more ‹layout› LAYOUT, or two or more ‹on› CLUSTER");
  }
  if (varied.size() > kMostCandidates) {
    return invalid(fmt::format("{} to compare", varied.size()), "«compare»",
                   fmt::format("at most {}", kMostCandidates));
  }
  std::vector<AskedCandidate> asked;
  for (const std::string& text : varied) {
    JobRequest one = request.job;
    one.cluster = by_cluster ? text : request.clusters.front();
    one.layout = !by_cluster               ? text
                 : request.layouts.empty() ? std::string()
                                           : request.layouts.front();
    asked.push_back({text, std::move(one)});
  }
  return asked;
}

Result<std::vector<JobReading>> read_all(std::vector<AskedCandidate>& asked,
                                         const Context& context) {
  std::vector<JobReading> readings;
  for (const AskedCandidate& one : asked) {
    SEXTANT_TRY(JobReading reading, read_job(one.request, context));
    readings.push_back(std::move(reading));
  }
  const bool open = asked.front().request.global_batch.empty();
  std::vector<const describe::Job*> jobs;
  for (const JobReading& reading : readings) {
    jobs.push_back(&reading.job);
  }
  const std::int64_t batch = open ? describe::common_batch(jobs) : 0;
  if (batch == 0) {
    return readings;
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    asked[i].request.global_batch = std::to_string(batch);
    SEXTANT_TRY(readings[i], read_job(asked[i].request, context));
    readings[i].job.assumed.push_back(
        {"gbs", std::to_string(batch), "not given: the same for all", {}});
  }
  return readings;
}

// What is said of one candidate; its files and assumptions are added to the answer.
Result<explain::Candidate> candidate_of(const AskedCandidate& asked, const JobReading& reading,
                                        const Context& context, explain::CompareAnswer& answer) {
  explain::Candidate candidate;
  candidate.name = asked.name;
  candidate.layout = describe::to_text(reading.job.layout);
  candidate.cluster = reading.job.cluster.name;
  describe::add_once(reading.job.assumed, answer.assumed);
  machine::InputFiles inputs = reading.inputs;
  for (const describe::Violation& violation : reading.violations) {
    candidate.reasons.push_back(fmt::format("{}: {}", violation.rule, violation.message));
  }
  if (candidate.reasons.empty()) {
    SEXTANT_CHECK_OK(step::check_tokens(reading.job));
    const auto machine = machine::step_machine(reading.job, context.data);
    if (machine) {
      candidate.result = step::whole_estimate(reading.job, *machine);
      describe::add_once(machine->assumed, answer.assumed);
      inputs.insert(inputs.end(), machine->inputs.begin(), machine->inputs.end());
    } else {
      candidate.reasons.push_back(to_text(machine.error()));
    }
  }
  for (auto& input : inputs) {
    auto& known = answer.provenance.inputs;
    if (std::find(known.begin(), known.end(), input) == known.end()) {
      known.push_back(std::move(input));
    }
  }
  return candidate;
}

// How well the candidates are told apart: each against the first that has a result, and the best
// against whom it is measured by.
Result<void> add_differences(const std::vector<JobReading>& readings,
                             const describe::DataStore& data, explain::CompareAnswer& answer) {
  SEXTANT_TRY(const describe::DifferenceSpreads spreads, describe::difference_spreads(data));
  const auto between = [&](std::size_t one, std::size_t other) {
    const auto timed = [&](std::size_t i) {
      return step::TimedJob{readings[i].job, answer.candidates[i].result->step.step};
    };
    return step::difference(timed(one), timed(other), spreads);
  };
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < answer.candidates.size(); ++i) {
    if (answer.candidates[i].result) {
      first = first ? first : i;
      answer.candidates[i].difference = between(i, *first);
    }
  }
  if (const auto& advantage = answer.comparison.advantage) {
    answer.advantage = between(advantage->best, advantage->other);
  }
  return {};
}

}  // namespace

Result<Answered<explain::CompareAnswer>> compare(const CompareRequest& request,
                                                 const Context& context) {
  SEXTANT_TRY(std::vector<AskedCandidate> asked, asked_of(request));
  SEXTANT_TRY(const std::vector<JobReading> readings, read_all(asked, context));
  explain::CompareAnswer answer;
  answer.provenance.tool_version = explain::tool_version();
  answer.model = readings.front().job.model.name;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    SEXTANT_TRY(explain::Candidate candidate, candidate_of(asked[i], readings[i], context, answer));
    answer.candidates.push_back(std::move(candidate));
  }
  std::vector<std::string> risks;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    for (const std::string& risk : readings[i].risks) {
      risks.push_back(fmt::format("{}: {}", asked[i].name, risk));
    }
  }
  std::vector<const step::Estimate*> running;
  for (const explain::Candidate& candidate : answer.candidates) {
    running.push_back(candidate.running());
  }
  answer.comparison = step::comparison_of(running);
  SEXTANT_CHECK_OK(add_differences(readings, context.data, answer));
  const Outcome outcome = answer.comparison.best ? Outcome::kFine : Outcome::kNo;
  return Answered<explain::CompareAnswer>{std::move(answer), outcome, std::move(risks)};
}

}  // namespace sextant::app
