#include "app/plan_free.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/plan_search.h"
#include "base/text.h"
#include "describe/layout/precision.h"
#include "step/step_answer.h"

namespace sextant::app {
namespace {

using describe::Job;
using describe::Precision;

// A job with one of the freed things set, in words.
struct Choice {
  std::string what;  // "gbs=512"
  Job job;
};

std::vector<Choice> with_batches(const Job& job) {
  constexpr std::array<std::pair<std::int64_t, std::int64_t>, 5> kTimes{
      {{1, 4}, {1, 2}, {1, 1}, {2, 1}, {4, 1}}};
  std::vector<Choice> list;
  for (const auto& [times, parts] : kTimes) {
    if (job.global_batch % parts == 0) {
      Job other = job;
      other.global_batch = job.global_batch / parts * times;
      list.push_back({fmt::format("gbs={}", other.global_batch), std::move(other)});
    }
  }
  return list;
}

// The same tokens a step.
std::vector<Choice> with_lengths(const Job& job) {
  std::vector<Choice> list;
  const auto add = [&](std::int64_t length, std::int64_t batch) {
    Job other = job;
    other.sequences.length = length;
    other.global_batch = batch;
    list.push_back({fmt::format("seq={},gbs={}", length, batch), std::move(other)});
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

std::vector<Choice> with_precisions(const Job& job) {
  std::vector<Choice> list;
  for (const Precision precision :
       {Precision::kBf16, Precision::kFp8, Precision::kMxfp8, Precision::kNvfp4}) {
    if (has_unit(job.cluster.device, precision)) {
      Job other = job;
      other.layout.precision = precision;
      list.push_back({fmt::format("precision={}", describe::word_of<Precision>(
                                                      describe::kPrecisionWords, precision)),
                      std::move(other)});
    }
  }
  return list;
}

struct Free {
  std::string_view word;
  std::vector<Choice> (*values)(const Job& job);
};
constexpr std::array<Free, 3> kFree{
    {{"gbs", with_batches}, {"seq", with_lengths}, {"precision", with_precisions}}};

Result<std::vector<const Free*>> parse(const std::string& text, const PlanProblem& of) {
  std::vector<const Free*> list;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view word = trimmed(part);
    const auto* const known = std::find_if(kFree.begin(), kFree.end(),
                                           [&](const Free& free) { return free.word == word; });
    if (known == kFree.end()) {
      return invalid(fmt::format("'{}' cannot be freed", printable(word)), "--free",
                     "gbs, seq, precision");
    }
    if (of.problem.is_fixed(word)) {
      return invalid(fmt::format("{} is fixed and freed", word), "--free", "one of both");
    }
    if (word == "seq" && of.problem.job.sequences.kind != describe::Sequences::Kind::kFixed) {
      return invalid("packed and variable sequences have lengths of their own", "--free",
                     "seq with --seq TOKENS");
    }
    if (std::find(list.begin(), list.end(), known) == list.end()) {
      list.push_back(known);
    }
  }
  return list;
}

std::vector<Choice> combined(const Job& job, const std::vector<const Free*>& freed) {
  std::vector<Choice> all{{"", job}};
  for (const Free* free : freed) {
    std::vector<Choice> next;
    for (const Choice& before : all) {
      for (Choice& value : free->values(before.job)) {
        value.what = before.what + (before.what.empty() ? "" : ",") + value.what;
        next.push_back(std::move(value));
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

Result<Freed> free_choices(const PlanProblem& of, const PlanRequest& request,
                           const PlanWishes& wishes, const Context& context) {
  Freed freed;
  if (request.free.empty()) {
    return freed;
  }
  SEXTANT_TRY(const std::vector<const Free*> kinds, parse(request.free, of));
  double best = 0.0;
  std::size_t winner = 0;
  for (const Choice& choice : combined(of.problem.job, kinds)) {
    PlanProblem at = of;
    at.problem.job = choice.job;
    SEXTANT_CHECK_OK(step::check_tokens(at.problem.job));
    SEXTANT_CHECK_OK(renew_machine(at, context));
    explain::PlanFreed& tried = freed.tried.emplace_back();
    tried.what = choice.what;
    search::FindOptions options = find_options(request, wishes, at.machine);
    options.top = 1;
    options.front_within = 0.0;
    options.progress = {};
    const PlanSearch searched = search_plans(at.problem, options);
    if (searched.found.plans.empty()) {
      continue;
    }
    tried.row = plan_row(at, searched.found.plans.front().layout);
    if (const double value = worth(tried.row->result, wishes.objective); value > best) {
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

}  // namespace sextant::app
