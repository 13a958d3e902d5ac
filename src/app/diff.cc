#include "app/diff.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/diagnosed_run.h"
#include "app/fail_on.h"
#include "app/table_rows.h"
#include "base/text.h"
#include "explain/report.h"

namespace sextant::app {
namespace {

// One of the two, read and diagnosed.
struct OneRun {
  explain::DiagnoseAnswer answer;
  std::vector<std::string> notes;
  bool is_stopped = false;
};

Result<OneRun> one_run(TraceRequest traces, const DiffRequest& request, const Context& context,
                       const Control& control) {
  traces.keeps_collectives = true;
  const std::string words = join(traces.traces, " ");
  SEXTANT_TRY(TraceReading reading, read_traces(traces, context, control));
  OneRun run{.answer = {}, .notes = std::move(reading.notes), .is_stopped = reading.is_stopped};
  SEXTANT_TRY(
      run.answer,
      diagnosed_run(reading, {.device = request.device, .framework = request.framework}, context));
  if (!run.answer.findings) {
    return invalid("has no whole step to compare", words, "a profile of three steps or more");
  }
  return run;
}

diagnose::ComparedRun compared(const explain::DiagnoseAnswer& answer) {
  return {
      .totals = answer.totals,
      .has_device = std::ranges::any_of(
          answer.ranks, [](const explain::DiagnosedRank& rank) { return rank.summary.has_device; }),
      .kernels = answer.kernels,
      .operators = answer.operators,
      .collectives = answer.collectives,
      .ranges = answer.ranges,
      .signals = answer.signals,
      .diagnosis = answer.findings ? &answer.findings->diagnosis : nullptr};
}

}  // namespace

Result<Answered<explain::DiffAnswer>> diff(const DiffRequest& request, const Context& context,
                                           const Control& control) {
  SEXTANT_TRY(const std::optional<std::int64_t> top, rows_asked(request.top));
  SEXTANT_TRY(const diagnose::RuleBook book, diagnose::RuleBook::load(context.data));
  SEXTANT_TRY(const diagnose::Gate gate, gate_of(request.fail_on, book, true));
  SEXTANT_TRY(OneRun a, one_run(request.a, request, context, control));
  SEXTANT_TRY(OneRun b, one_run(request.b, request, context, control));
  Answered<explain::DiffAnswer> answered{
      .answer = {}, .outcome = Outcome::kFine, .notes = std::move(a.notes)};
  std::ranges::move(b.notes, std::back_inserter(answered.notes));
  explain::DiffAnswer& answer = answered.answer;
  answer.provenance = a.answer.provenance;
  std::ranges::copy(b.answer.provenance.inputs, std::back_inserter(answer.provenance.inputs));
  answer.a = std::move(a.answer);
  answer.b = std::move(b.answer);
  answer.difference = diagnose::difference_of(compared(answer.a), compared(answer.b));
  answer.met = diagnose::met(gate, answer.difference);
  answer.top = top;
  answer.verbose = request.verbose;
  if (!request.report_file.empty()) {
    answered.artifacts.push_back(
        {.path = request.report_file, .bytes = explain::report_html(answer)});
  }
  if (a.is_stopped || b.is_stopped) {
    answered.outcome = Outcome::kInterrupted;
  } else if (!answer.met.empty()) {
    answered.outcome = Outcome::kNo;
  }
  return answered;
}

}  // namespace sextant::app
