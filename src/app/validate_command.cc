#include "app/validate_command.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/sha256.h"
#include "calibrate/device_halves.h"
#include "calibrate/difference_fit.h"
#include "calibrate/run_halves.h"
#include "calibrate/run_samples.h"
#include "calibrate/spread_fit.h"
#include "calibrate/systems_left_out.h"
#include "explain/bandwidth_runs.h"
#include "explain/calibration_view.h"
#include "explain/change_section.h"
#include "explain/comm_section.h"
#include "explain/fit_section.h"
#include "explain/plot_links.h"
#include "explain/run_section.h"
#include "explain/validation_groups.h"
#include "measured/change_scores.h"
#include "measured/comm_scores.h"
#include "measured/run_scores.h"
#include "measured/table.h"
#include "measured/validate.h"
#include "validate/predictor.h"

namespace sextant::app {
namespace {

constexpr Bytes kMostLedger = 16_MiB;
constexpr Bytes kMostPlot = 4_MiB;

struct Validated {
  std::vector<measured::Row> rows;
  explain::ValidationAnswer answer;
  measured::RunScores runs;
};

Result<Validated> validated(const std::vector<std::string>& tables,
                            const describe::DataStore& data) {
  const std::vector<std::filesystem::path> paths(tables.begin(), tables.end());
  SEXTANT_TRY(const std::vector<std::filesystem::path> files, measured::expand_tables(paths));
  Validated result;
  result.answer.provenance.tool_version = std::string(explain::tool_version());
  for (const std::filesystem::path& file : files) {
    SEXTANT_TRY(std::string text, read_text(file, measured::kMostTable));
    result.answer.provenance.inputs.emplace_back(file.string(), sha256_hex(text));
    SEXTANT_TRY(std::vector<measured::Row> more,
                measured::parse_table(std::move(text), file, data));
    result.rows.insert(result.rows.end(), std::make_move_iterator(more.begin()),
                       std::make_move_iterator(more.end()));
  }
  result.answer.report = measured::validate(result.rows, validate::predictor(data));
  result.answer.comm = measured::comm_scores(result.rows, result.answer.report);
  result.answer.changes = measured::change_scores(result.rows, result.answer.report);
  SEXTANT_TRY(const describe::StepSpreads spreads, describe::step_spreads(data));
  result.runs = measured::run_scores(result.rows, result.answer.report, spreads);
  return result;
}

// Nothing is said before the last of them is written.
std::vector<Artifact> plot_artifacts(const explain::LedgerPlots& plots,
                                     const std::filesystem::path& folder) {
  std::vector<Artifact> artifacts;
  for (const auto& [name, svg] : explain::plot_files(plots)) {
    artifacts.push_back({.path = (folder / name).string(), .bytes = svg, .makes_folders = true});
  }
  if (!artifacts.empty()) {
    artifacts.back().note = {
        fmt::format("{} plots written to {}", artifacts.size(), folder.string())};
  }
  return artifacts;
}

// As a reader of the ledger reaches the folder, which need not be there yet.
std::string link_from(const std::filesystem::path& ledger, const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path from = std::filesystem::weakly_canonical(
      std::filesystem::absolute(ledger, error).parent_path(), error);
  const std::filesystem::path to =
      std::filesystem::weakly_canonical(std::filesystem::absolute(folder, error), error);
  const std::filesystem::path relative = to.lexically_relative(from);
  return explain::folder_link(error || relative.empty() ? folder : relative);
}

// How intervals of differences cover pairs of these runs; empty where the data file says nothing.
std::vector<calibrate::DifferenceCoverage> differences_of(
    const std::vector<calibrate::RunSample>& samples, const std::vector<Seconds>& predicted,
    const describe::DataStore& data) {
  const auto spreads = describe::difference_spreads(data);
  if (!spreads) {
    return {};
  }
  return calibrate::difference_coverage(calibrate::difference_pairs(samples, predicted), *spreads);
}

// Steps of runs: scores, and fits that have not seen what they are scored on.
Result<std::string> steps_section(const Validated& validated, const describe::DataStore& data) {
  const std::vector<calibrate::RunSample> samples = calibrate::run_samples(validated.rows, data);
  if (samples.empty()) {
    return std::string();
  }
  explain::RunChecks checks;
  SEXTANT_TRY(checks.halves, calibrate::run_halves(samples));
  // Too few rows for intervals of their own are no reason for no ledger.
  const std::vector<Seconds> predicted = calibrate::predicted_steps(samples);
  if (auto coverage = calibrate::spread_coverage(samples, predicted)) {
    checks.coverage = std::move(*coverage);
  }
  checks.differences = differences_of(samples, predicted, data);
  return explain::run_section(validated.runs, checks);
}

// What the ledger says beside the scores: plots where they are linked, steps of runs, odds that a
// job fits, communication by size and system, and halves of kernel tables.
Result<std::string> sections(const Validated& validated, const std::string& plots,
                             const describe::DataStore& data) {
  SEXTANT_TRY(const std::vector<calibrate::DeviceHalves> halves,
              calibrate::device_halves(validated.rows, data));
  SEXTANT_TRY(const std::vector<calibrate::LeaveOneOut> left_out,
              calibrate::systems_left_out(validated.rows, data));
  SEXTANT_TRY(const std::string steps, steps_section(validated, data));
  std::string text;
  for (const std::string& section :
       {plots, steps, explain::fit_section(measured::fit_scores(validated.answer.report)),
        explain::comm_section(validated.answer.comm, left_out), explain::halves_section(halves)}) {
    text += text.empty() || section.empty() ? section : "\n" + section;
  }
  return text;
}

// The ledger of what was read: of single changes alone, a page of their own.
std::string ledger_text(const Validated& validated, const std::string& sections) {
  const measured::ValidationReport& report = validated.answer.report;
  const bool changes = std::ranges::all_of(validated.rows, [](const measured::Row& row) {
    return row.table == measured::TableKind::kChanges;
  });
  return changes && !validated.rows.empty()
             ? explain::changes_page(validated.answer.changes, report)
             : explain::ledger(report, sections);
}

// The first of the ledger and the plots it links that is not what would be written now; nothing
// where all are.
Result<std::string> first_stale(const std::filesystem::path& ledger, const Validated& validated,
                                const explain::LedgerPlots& plots,
                                const describe::DataStore& data) {
  SEXTANT_TRY(const std::string stored, read_text(ledger, kMostLedger));
  const std::optional<std::string> link = explain::linked_folder(stored);
  SEXTANT_TRY(const std::string beside,
              sections(validated, link ? explain::plots_section(plots, *link) : "", data));
  if (stored != ledger_text(validated, beside)) {
    return fmt::format("{} is not current: write it again with ‹ledger›", ledger.string());
  }
  if (!link) {
    return std::string();
  }
  const std::filesystem::path folder = ledger.parent_path() / explain::path_of_link(*link);
  for (const auto& [name, svg] : explain::plot_files(plots)) {
    const std::filesystem::path file = folder / name;
    const auto drawn = read_file(file, kMostPlot);
    if (!drawn || *drawn != svg) {
      return fmt::format("{} is not current: write it again with ‹plots›",
                         file.lexically_normal().string());
    }
  }
  return std::string();
}

void add_run_plots(const Validated& validated, explain::LedgerPlots& plots) {
  explain::ValidationPlot devices =
      explain::runs_by_device(validated.rows, validated.answer.report);
  if (!devices.series.empty()) {
    plots.scores.push_back(std::move(devices));
  }
  for (const measured::RunScore& source : validated.runs.sources) {
    if (source.coverage) {
      plots.coverage.push_back({source.name, source.rows, *source.coverage});
    }
  }
}

Result<Artifact> ledger_artifact(const ValidateRequest& request, const Validated& validated,
                                 const explain::LedgerPlots& plots,
                                 const describe::DataStore& data) {
  std::string section;
  if (!request.plots_folder.empty()) {
    section = explain::plots_section(plots, link_from(request.ledger_file, request.plots_folder));
  }
  SEXTANT_TRY(const std::string beside, sections(validated, section, data));
  return Artifact{.path = request.ledger_file,
                  .bytes = ledger_text(validated, beside),
                  .note = {fmt::format("ledger written to {}", request.ledger_file)}};
}

// Everything but the answer itself.
Result<Answered<explain::ValidationAnswer>> with_files(const ValidateRequest& request,
                                                       const Validated& validated,
                                                       const describe::DataStore& data) {
  const measured::ValidationReport& report = validated.answer.report;
  explain::LedgerPlots plots;
  if (!request.plots_folder.empty() || !request.check_file.empty()) {
    plots.scores = explain::validation_plots(validated.rows, report);
    plots.bandwidths = explain::bandwidth_plots(validated.rows, report);
    add_run_plots(validated, plots);
  }
  Answered<explain::ValidationAnswer> answered;
  if (!request.rows_file.empty()) {
    answered.artifacts.push_back(
        {.path = request.rows_file,
         .bytes = explain::rows_csv(report),
         .note = {fmt::format("{} rows written to {}", report.rows.size(), request.rows_file)}});
  }
  if (!request.plots_folder.empty()) {
    std::vector<Artifact> pictures = plot_artifacts(plots, request.plots_folder);
    if (pictures.empty()) {
      answered.notes.push_back(fmt::format("0 plots written to {}", request.plots_folder));
    }
    std::ranges::move(pictures, std::back_inserter(answered.artifacts));
  }
  if (!request.ledger_file.empty()) {
    SEXTANT_TRY(answered.artifacts.emplace_back(),
                ledger_artifact(request, validated, plots, data));
  }
  if (!request.check_file.empty()) {
    SEXTANT_TRY(const std::string stale, first_stale(request.check_file, validated, plots, data));
    answered.notes.push_back(stale.empty() ? fmt::format("{} is current", request.check_file)
                                           : stale);
    answered.outcome = stale.empty() ? Outcome::kFine : Outcome::kNo;
  }
  return answered;
}

}  // namespace

Result<Answered<explain::ValidationAnswer>> validate_tables(const ValidateRequest& request,
                                                            const Context& context) {
  SEXTANT_TRY(Validated result, validated(request.tables, context.data));
  SEXTANT_TRY(Answered<explain::ValidationAnswer> answered,
              with_files(request, result, context.data));
  answered.answer = std::move(result.answer);
  return answered;
}

}  // namespace sextant::app
