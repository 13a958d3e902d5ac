#include "search/free_choices.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "describe/layout/precision.h"
#include "step/step_answer.h"

namespace sextant::search {
namespace {

using describe::Job;
using describe::Precision;

// A job with some of the freed things set.
struct FreedJob {
  std::vector<Free> set;
  Job job;
};

// Each key once, with what it is in the end: "precision=fp8,seq=2048,gbs=1024". Where lengths are
// free, so is the batch that keeps the tokens.
std::string freed_text(const FreedJob& freed) {
  const auto has = [&freed](Free kind) {
    return std::ranges::find(freed.set, kind) != freed.set.end();
  };
  std::string text;
  const auto add = [&text](std::string_view key, const auto& value) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  };
  if (has(Free::kPrecision)) {
    add("precision",
        describe::word_of<Precision>(describe::kPrecisionWords, freed.job.layout.precision));
  }
  if (has(Free::kLength)) {
    add("seq", freed.job.sequences.length);
  }
  if (has(Free::kLength) || has(Free::kBatch)) {
    add("gbs", freed.job.global_batch);
  }
  return text;
}

std::vector<Job> with_batches(const Job& job) {
  constexpr std::array<std::pair<std::int64_t, std::int64_t>, 5> kTimes{
      {{1, 4}, {1, 2}, {1, 1}, {2, 1}, {4, 1}}};
  std::vector<Job> list;
  for (const auto& [times, parts] : kTimes) {
    if (job.global_batch % parts == 0) {
      list.push_back(job);
      list.back().global_batch = job.global_batch / parts * times;
    }
  }
  return list;
}

// The same tokens a step.
std::vector<Job> with_lengths(const Job& job) {
  std::vector<Job> list;
  const auto add = [&](std::int64_t length, std::int64_t batch) {
    list.push_back(job);
    list.back().sequences.length = length;
    list.back().global_batch = batch;
  };
  if (job.sequences.length % 2 == 0) {
    add(job.sequences.length / 2, job.global_batch * 2);
  }
  add(job.sequences.length, job.global_batch);
  if (job.global_batch % 2 == 0) {
    add(job.sequences.length * 2, job.global_batch / 2);
  }
  return list;
}

// Formats whose blocks share a scale came with units for 4 bits.
bool has_unit(const describe::Device& device, Precision precision) {
  const Precision unit = precision == Precision::kMxfp8 ? Precision::kNvfp4 : precision;
  return device.peak(describe::unit_of(unit)).has_value();
}

std::vector<Job> with_precisions(const Job& job) {
  std::vector<Job> list;
  for (const Precision precision :
       {Precision::kBf16, Precision::kFp8, Precision::kMxfp8, Precision::kNvfp4}) {
    if (has_unit(job.cluster.device, precision)) {
      list.push_back(job);
      list.back().layout.precision = precision;
    }
  }
  return list;
}

std::vector<Job> values_of(Free kind, const Job& job) {
  switch (kind) {
    case Free::kBatch:
      return with_batches(job);
    case Free::kLength:
      return with_lengths(job);
    case Free::kPrecision:
      break;
  }
  return with_precisions(job);
}

std::vector<FreedJob> combined(const Job& job, const std::vector<Free>& freed) {
  std::vector<FreedJob> all{{{}, job}};
  for (const Free kind : freed) {
    std::vector<FreedJob> next;
    for (const FreedJob& before : all) {
      for (Job& value : values_of(kind, before.job)) {
        next.push_back({before.set, std::move(value)});
        next.back().set.push_back(kind);
      }
    }
    all = std::move(next);
  }
  return all;
}

// More is better: tokens a second, or a joule.
double worth(const step::Estimate& result, Objective objective) {
  return objective == Objective::kEnergy ? result.tokens_per_joule()
                                         : result.tokens_per_second().base();
}

}  // namespace

Result<Freed> free_choices(const Task& task, const std::vector<Free>& kinds, Objective objective,
                           const Effort& effort, const describe::DataStore& data) {
  Freed freed;
  if (kinds.empty()) {
    return freed;
  }
  double best = 0.0;
  std::size_t winner = 0;
  for (const FreedJob& choice : combined(task.problem.job, kinds)) {
    Task at = task;
    at.problem.job = choice.job;
    SEXTANT_CHECK_OK(step::check_tokens(at.problem.job));
    SEXTANT_CHECK_OK(renew_machine(at, data));
    PlanFreed& tried = freed.tried.emplace_back();
    tried.what = freed_text(choice);
    FindOptions options = find_options(objective, at.machine, effort);
    options.top = 1;
    options.front_within = 0.0;
    const Found found = find_plans(Space(at.problem), options);
    if (found.plans.empty()) {
      continue;
    }
    tried.row = plan_row(at, found.plans.front().layout);
    if (const double value = worth(tried.row->result, objective); value > best) {
      best = value;
      winner = freed.tried.size() - 1;
      freed.chosen = std::move(at);
    }
  }
  if (freed.chosen) {
    freed.tried[winner].chosen = true;
  }
  return freed;
}

}  // namespace sextant::search
