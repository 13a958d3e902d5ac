#include "app/compare_runs.h"

#include <filesystem>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "app/job_sources.h"
#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/legality.h"
#include "measured/table.h"
#include "step/step_answer.h"

namespace sextant::app {
namespace {

// The measured step of a run with this id.
Result<measured::Row> find_row(const CompareRunsRequest& request, const Context& context) {
  if (request.tables.empty()) {
    return invalid("no tables to find the row in", "‹rows›", "tables of runs, files or folders");
  }
  const std::vector<std::filesystem::path> given(request.tables.begin(), request.tables.end());
  SEXTANT_TRY(const std::vector<std::filesystem::path> paths, measured::expand_tables(given));
  std::vector<std::string> ids;
  for (const std::filesystem::path& path : paths) {
    SEXTANT_TRY(std::vector<measured::Row> rows, measured::read_table(path, context.data));
    for (measured::Row& row : rows) {
      if (!std::holds_alternative<measured::RunSubject>(row.subject) ||
          row.quantity != "step_time_s") {
        continue;
      }
      if (row.id == request.row) {
        return std::move(row);
      }
      ids.push_back(row.id);
    }
  }
  return describe::unknown_word(request.row, std::move(ids), "row", "‹row-id›");
}

// A run that was measured.
struct ComparedRun {
  std::string name;
  const describe::Job& job;
  Seconds measured;
  std::vector<describe::Violation> broken;
};

Result<explain::MeasuredStep> measured_step(ComparedRun run, machine::Machines& machines,
                                            explain::RunComparison& runs) {
  const describe::Job& job = run.job;
  if (const auto refusals = describe::refusals(std::move(run.broken)); !refusals.empty()) {
    return invalid(
        fmt::format("not legal: {}: {}", refusals.front().rule, refusals.front().message),
        run.name);
  }
  SEXTANT_CHECK_OK(step::check_tokens(job));
  SEXTANT_TRY(const machine::StepMachine machine, machines.step(job));
  describe::add_once(job.assumed, runs.assumed);
  describe::add_once(machine.assumed, runs.assumed);
  return explain::MeasuredStep{std::move(run.name), describe::to_text(job.layout),
                               job.cluster.name,    job.model.name,
                               run.measured,        step::whole_estimate(job, machine)};
}

}  // namespace

Result<Answered<explain::RunComparison>> compare_runs(const CompareRunsRequest& request,
                                                      const Context& context) {
  SEXTANT_TRY(const FileJob files, read_files(request.run, context));
  const std::string name = std::filesystem::path(request.run.files.front()).filename().string();
  if (!files.measured || !files.measured->step) {
    return invalid("no measured step is in it", name, "a log with iteration lines");
  }
  if (!files.job || !files.whole()) {
    return invalid(
        files.open.empty() ? "the device is not stated: ‹on› CLUSTER" : files.open.front(), name);
  }
  SEXTANT_TRY(const measured::Row row, find_row(request, context));
  const describe::Job* published = std::get<measured::RunSubject>(row.subject).job.get();
  if (published == nullptr) {
    return invalid("the row does not say enough to be predicted", request.row);
  }
  machine::Machines machines(context.data);
  explain::RunComparison runs;
  runs.provenance = {std::string(explain::tool_version()), files.inputs};
  SEXTANT_TRY(runs.ours, measured_step({.name = name,
                                        .job = *files.job,
                                        .measured = *files.measured->step,
                                        .broken = files.violations},
                                       machines, runs));
  SEXTANT_TRY(runs.theirs, measured_step({.name = row.id,
                                          .job = *published,
                                          .measured = 1_s * row.measured,
                                          .broken = describe::broken_rules(*published)},
                                         machines, runs));
  return Answered<explain::RunComparison>{std::move(runs)};
}

}  // namespace sextant::app
