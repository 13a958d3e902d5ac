#include "app/diagnose.h"

#include <algorithm>
#include <map>
#include <utility>

#include "app/diagnosed_run.h"
#include "app/fail_on.h"
#include "app/table_rows.h"

namespace sextant::app {
namespace {

explain::HtaAnswer hta_answer(TraceReading& reading, std::optional<std::int64_t> top) {
  explain::HtaAnswer answer{.provenance = std::move(reading.provenance),
                            .ranks = std::move(reading.hta),
                            .types = {},
                            .top = top};
  std::map<std::string, std::int64_t> sums;
  std::int64_t all = 0;
  for (const explain::HtaRankTables& rank : answer.ranks) {
    for (const metrics::HtaTypeRow& row : rank.types) {
      sums[row.types] += row.sum_us;
      all += row.sum_us;
    }
  }
  for (const auto& [types, sum] : sums) {
    const double share = all == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(all);
    answer.types.push_back({.types = types, .sum_us = sum, .percentage = 100.0 * share});
  }
  std::ranges::stable_sort(answer.types, std::greater<>(), &metrics::HtaTypeRow::sum_us);
  return answer;
}

}  // namespace

Result<Answered<Diagnosis>> diagnose(const DiagnoseRequest& request, const Context& context,
                                     const Control& control) {
  SEXTANT_TRY(const std::optional<std::int64_t> top, rows_asked(request.top));
  SEXTANT_TRY(const diagnose::RuleBook book, diagnose::RuleBook::load(context.data));
  SEXTANT_TRY(const diagnose::Gate gate, gate_of(request.fail_on, book));
  TraceRequest traces = request.traces;
  traces.keeps_collectives = true;
  SEXTANT_TRY(TraceReading reading, read_traces(traces, context, control));
  Answered<Diagnosis> answered{
      .answer = {},
      .outcome = reading.is_stopped ? Outcome::kInterrupted : Outcome::kFine,
      .notes = std::move(reading.notes)};
  if (request.traces.as_hta) {
    answered.answer = hta_answer(reading, top);
    return answered;
  }
  SEXTANT_TRY(explain::DiagnoseAnswer answer,
              diagnosed_run(reading, {request.device, request.framework}, context));
  answer.top = top;
  answer.verbose = request.verbose;
  if (answer.findings) {
    answer.findings->met = diagnose::met(gate, answer.findings->diagnosis);
    if (answered.outcome == Outcome::kFine && !answer.findings->met.empty()) {
      answered.outcome = Outcome::kNo;
    }
  }
  answered.answer = std::move(answer);
  return answered;
}

}  // namespace sextant::app
