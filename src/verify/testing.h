// Jobs that proposals are judged on. Only tests and benchmarks include this.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "describe/cluster/load_cluster.h"
#include "describe/layout/job_layout.h"
#include "describe/model/load_model.h"
#include "kb/library.h"
#include "verify/judge.h"

namespace sextant::verify {

struct JobWords {
  std::string model;
  std::string cluster;
  std::string layout;
  describe::Framework framework = describe::Framework::kMegatronCore;
  std::int64_t global_batch = 0;
  std::int64_t sequence = 4096;
};

inline search::Task task_of(const JobWords& words) {
  const describe::DataStore data;
  search::Task task;
  describe::Job& job = task.problem.job;
  job.model = describe::load_model(words.model, data).value();
  job.cluster = describe::load_cluster(words.cluster, data).value();
  job.framework = words.framework;
  job.global_batch = words.global_batch;
  job.sequences.length = words.sequence;
  const auto set = describe::set_layout(words.layout, job);
  const auto renewed = search::renew_machine(task, data);
  if (!set || !renewed) {
    ADD_FAILURE() << to_text(!set ? set.error() : renewed.error());
  }
  return task;
}

// What every job is judged by.
struct Known {
  describe::DataStore data;
  describe::DifferenceSpreads spreads = describe::difference_spreads(data).value();
  std::vector<kb::Entry> entries = kb::built_in_entries(data).value();
  diagnose::RuleBook advice = diagnose::RuleBook::load(data).value();
};
inline const Known& known() {
  static const Known kKnown;
  return kKnown;
}

inline Bench bench_of(const search::Task& task, const diagnose::Diagnosis* diagnosis = nullptr) {
  return {.task = task,
          .spreads = known().spreads,
          .entries = known().entries,
          .diagnosis = diagnosis,
          .advice = &known().advice};
}

inline constexpr auto kStep = step::Quantity::kStep;
inline constexpr auto kLower = step::Direction::kLower;
inline constexpr auto kSame = step::Direction::kSame;
inline constexpr auto kHigher = step::Direction::kHigher;

// Of a run whose step takes so long, with nothing found.
inline diagnose::Diagnosis step_of(Seconds step) {
  diagnose::Diagnosis diagnosis;
  diagnosis.step = step;
  return diagnosis;
}

inline Claim claim_of(step::Quantity quantity, step::Direction direction) {
  return {.quantity = quantity, .direction = direction};
}
inline Claim sized_claim(step::Quantity quantity, step::Direction direction, double low,
                         double high) {
  return {.quantity = quantity, .direction = direction, .ratio = step::RatioRange{low, high}};
}

inline Proposal proposal_of(std::string layout, std::vector<Claim> claims = {}) {
  return {.change = {.layout = std::move(layout)}, .claims = std::move(claims)};
}

}  // namespace sextant::verify
