// Published single changes: two jobs that differ in what was changed, and its measured effect.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/job_change.h"
#include "measured/change_cells.h"
#include "measured/change_side.h"
#include "measured/change_words.h"
#include "measured/origin.h"
#include "measured/readers.h"
#include "measured/row_tools.h"

namespace sextant::measured {
namespace {

// What was timed, where it was not a step of the job.
constexpr std::array<std::string_view, 5> kPartsOfASteps{
    "ONE transformer layer", "layer microbenchmark", "layer fwd+bwd microbenchmark",
    "attention only", "debug model"};

std::optional<std::string> refusal_of_row(const ChangeCells& change) {
  if (!is_speed(change)) {
    return "a change of memory, not of speed";
  }
  if (!change.effect) {
    return "no effect is printed";
  }
  for (const std::string_view part : kPartsOfASteps) {
    if (contains(change.conditions, part)) {
      return "not of a whole step";
    }
  }
  return std::nullopt;
}

// A share of peak or FLOP/s says how fast a step is where both sides do the same work.
std::optional<std::string> refusal_of_metric(const ChangeCells& change, const describe::Job& before,
                                             const describe::Job& after) {
  const bool flops = is_one_of(change.metric, {"mfu_pct", "tflops_per_device"});
  if (flops && before.sequences.length != after.sequences.length) {
    return "FLOP/s of two lengths, without their count";
  }
  if (change.metric == "mfu_pct" && before.layout.precision != after.layout.precision) {
    return "shares of two peaks";
  }
  return std::nullopt;
}

std::optional<std::string> refusal_of_words(const ChangeCells& change, const ChangeWords& before,
                                            const ChangeWords& after) {
  const auto model = two_sides(change.model);
  const auto heads = two_sides(change.heads);
  const auto hidden = two_sides(change.hidden);
  if (model.before != model.after || heads.before != heads.after || hidden.before != hidden.after) {
    return "another model, not another layout";
  }
  if (before.beyond != after.beyond) {
    return fmt::format("beyond the layout language: {}", printable(change.kind));
  }
  return std::nullopt;
}

// "stored full text, …" says where it was read, not what it is.
std::string origin_of_change(const ChangeCells& change) {
  const bool named = !change.address.empty() && !change.address.starts_with("stored");
  return origin_of(named ? change.address : change.title);
}

struct TwoJobs {
  RunJob before;
  RunJob after;
};

std::optional<std::string> refusal_of_jobs(const ChangeCells& change, const TwoJobs& jobs) {
  for (const RunJob* job : {&jobs.before, &jobs.after}) {
    if (!job->job) {
      return job->refusal.empty() ? "no job" : job->refusal;
    }
    if (!job->beyond_layout.empty()) {
      return job->beyond_layout.front();
    }
  }
  if (describe::changes_between(*jobs.before.job, *jobs.after.job).empty()) {
    return fmt::format("the same in the layout language: {}", printable(change.kind));
  }
  return refusal_of_metric(change, *jobs.before.job, *jobs.after.job);
}

void add_assumed(const TwoJobs& jobs, const ChangeWords& words, Row& row) {
  row.assumed = jobs.before.assumed;
  for (const describe::Assumption& one : jobs.after.assumed) {
    if (std::ranges::find(row.assumed, one) == row.assumed.end()) {
      row.assumed.push_back(one);
    }
  }
  if (!words.beyond.empty()) {
    const std::vector<std::string> words_left(words.beyond.begin(), words.beyond.end());
    row.assumed.push_back({"both sides", printable(join(words_left, ", ")), "not modelled", {}});
  }
}

Result<Row> change_row(const Cells& cells, TableContext& context) {
  SEXTANT_TRY(const ChangeCells change, read_change_cells(cells));
  Row row;
  row.id = change.id;
  row.source = context.source;
  row.table = TableKind::kChanges;
  row.trust = change.trust;
  row.quantity = is_speed(change) ? kSpeedRatio : "memory_ratio";
  row.measured = 1.0 + change.effect.value_or(0.0);
  ChangeSubject subject{.before = {},
                        .after = {},
                        .kind = printable(change.kind),
                        .title = printable(change.title),
                        .origin = origin_of_change(change)};
  row.refusal = refusal_of_row(change);
  if (!row.refusal) {
    const ChangeWords before = change_words(change.before);
    const ChangeWords after = change_words(change.after);
    row.refusal = refusal_of_words(change, before, after);
    if (!row.refusal) {
      TwoJobs jobs;
      SEXTANT_TRY(jobs.before, side_job(change, before, Side::kBefore, context.hardware));
      SEXTANT_TRY(jobs.after, side_job(change, after, Side::kAfter, context.hardware));
      row.refusal = refusal_of_jobs(change, jobs);
      add_assumed(jobs, before, row);
      subject.before = jobs.before.job;
      subject.after = jobs.after.job;
    }
  }
  row.subject = std::move(subject);
  return row;
}

}  // namespace

Result<std::vector<Row>> read_changes(const CsvTable& table, TableContext& context) {
  return read_rows(table, context, change_row);
}

}  // namespace sextant::measured
