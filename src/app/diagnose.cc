#include "app/diagnose.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "app/diagnosed_run.h"
#include "app/fail_on.h"
#include "app/table_rows.h"
#include "diagnose/annotated.h"
#include "explain/report.h"
#include "timeline/chrome_trace.h"
#include "timeline/thinned.h"

namespace sextant::app {
namespace {

explain::HtaAnswer hta_answer(TraceReading& reading, std::optional<std::int64_t> top) {
  explain::HtaAnswer answer{.provenance = std::move(reading.provenance),
                            .ranks = std::move(reading.hta),
                            .types = {},
                            .top = top};
  std::vector<metrics::HtaTypeRow> rows;
  for (const explain::HtaRankTables& rank : answer.ranks) {
    rows.insert(rows.end(), rank.types.begin(), rank.types.end());
  }
  answer.types = metrics::hta_types_joined(rows);
  return answer;
}

// Of all ranks: some 30 MB that Perfetto opens at once.
constexpr std::size_t kTimelineSpans = 200'000;
// What lies in a report: some hundred kilobytes.
constexpr std::size_t kReportSpans = 2'500;

std::size_t spans_to_keep(const DiagnoseRequest& request) {
  return !request.timeline_file.empty() ? kTimelineSpans
         : !request.report_file.empty() ? kReportSpans
                                        : 0;
}

timeline::Timeline annotated_timeline(const timeline::Timeline& spans,
                                      const explain::DiagnoseAnswer& answer) {
  std::vector<metrics::RankSummary> ranks;
  for (const explain::DiagnosedRank& rank : answer.ranks) {
    ranks.push_back(
        {.rank = rank.summary.rank, .base_ns = rank.summary.base_ns, .steps = rank.summary.steps});
  }
  return answer.findings ? diagnose::annotated(spans, ranks, answer.findings->diagnosis.findings)
                         : diagnose::annotated(spans, ranks, {});
}

Artifact annotated_artifact(const std::string& path, timeline::Timeline timeline) {
  auto kept = std::make_shared<const timeline::Timeline>(std::move(timeline));
  return {.path = path, .pour = [kept](const Artifact::Sink& sink) {
            timeline::write_chrome_trace(*kept, sink);
          }};
}

Artifact report_artifact(const std::string& path, const timeline::Timeline& spans,
                         const explain::DiagnoseAnswer& answer) {
  timeline::Timeline few;
  timeline::add_longest(spans, {.most = kReportSpans}, few);
  return {.path = path,
          .bytes = explain::report_html(answer,
                                        timeline::chrome_trace(annotated_timeline(few, answer)))};
}

}  // namespace

Result<Answered<Diagnosis>> diagnose(const DiagnoseRequest& request, const Context& context,
                                     const Control& control) {
  SEXTANT_TRY(const std::optional<std::int64_t> top, rows_asked(request.top));
  SEXTANT_TRY(const diagnose::RuleBook book, diagnose::RuleBook::load(context.data));
  SEXTANT_TRY(const diagnose::Gate gate, gate_of(request.fail_on, book));
  TraceRequest traces = request.traces;
  traces.keeps_collectives = true;
  traces.keeps_spans = spans_to_keep(request);
  SEXTANT_TRY(TraceReading reading, read_traces(traces, context, control));
  Answered<Diagnosis> answered{
      .answer = {},
      .outcome = reading.is_stopped ? Outcome::kInterrupted : Outcome::kFine,
      .notes = std::move(reading.notes)};
  if (request.traces.as_hta) {
    answered.answer = hta_answer(reading, top);
    return answered;
  }
  SEXTANT_TRY(explain::DiagnoseAnswer answer, diagnosed_run(reading,
                                                            {.device = request.device,
                                                             .framework = request.framework,
                                                             .model_flops = request.model_flops,
                                                             .cluster = request.cluster,
                                                             .job = request.job},
                                                            context));
  answer.top = top;
  answer.verbose = request.verbose;
  if (answer.findings) {
    answer.findings->met = diagnose::met(gate, answer.findings->diagnosis);
    if (answered.outcome == Outcome::kFine && !answer.findings->met.empty()) {
      answered.outcome = Outcome::kNo;
    }
  }
  if (!request.timeline_file.empty()) {
    answered.artifacts.push_back(
        annotated_artifact(request.timeline_file, annotated_timeline(reading.spans, answer)));
  }
  if (!request.report_file.empty()) {
    answered.artifacts.push_back(report_artifact(request.report_file, reading.spans, answer));
  }
  answered.answer = std::move(answer);
  return answered;
}

}  // namespace sextant::app
