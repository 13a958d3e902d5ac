#include <iterator>

#include "app/diagnose.h"
#include "app/job_parameters.h"
#include "app/trace_parameters.h"
#include "app/use_cases.h"

namespace sextant::app {
namespace {

// What was run, so that its predicted step can be laid beside.
Parameter optional_model() {
  Parameter model = model_parameter();
  model.help = "what was run: its predicted step is laid beside the measured one";
  model.required = false;
  model.positional = false;
  return model;
}

Parameter optional_cluster() {
  Parameter cluster = cluster_parameter();
  cluster.help = "where it was run: what its fabric should reach is held against collectives";
  cluster.required = false;
  return cluster;
}

std::vector<Parameter> diagnose_parameters() {
  std::vector<Parameter> all = trace_parameters();
  const std::vector<Parameter> own{
      judged_device_parameter(),
      advised_framework_parameter(),
      optional_model(),
      optional_cluster(),
      {.name = "layout",
       .kind = ParameterKind::kLayout,
       .value = "LAYOUT",
       .help = "of ‹model›: how it was run",
       .otherwise = "the framework's own values",
       .example = "tp=8,pp=4,mbs=1"},
      {.name = "seq",
       .value = "TOKENS",
       .help = "of ‹model›: tokens a sequence",
       .fallback = "4096",
       .example = "2048"},
      {.name = "gbs",
       .kind = ParameterKind::kCount,
       .value = "SEQUENCES",
       .help = "of ‹model›: global batch",
       .otherwise = "about 4 Mi tokens a step, as replicas share them",
       .example = "256"},
      {.name = "fail-on",
       .value = "CONDITIONS",
       .help = "answer no (exit 1) where one holds: RULE, gain>SHARE, joined by commas",
       .example = "input-bound,gain>5%"},
      {.name = "timeline",
       .kind = ParameterKind::kFileToWrite,
       .value = "FILE",
       .help = "write the longest spans with the evidence beside them as a Chrome trace "
               "(ui.perfetto.dev)",
       .example = "annotated.json"},
      {.name = "report",
       .kind = ParameterKind::kFileToWrite,
       .value = "FILE",
       .help = "write all of it as one HTML file that needs no other",
       .example = "report.html"},
      {.name = "model-flops",
       .value = "FLOPS",
       .help = "of the model's step on one rank, for MFU",
       .otherwise = "MFU is not said",
       .example = "4.2e15"},
      {.name = "top",
       .kind = ParameterKind::kCount,
       .value = "COUNT",
       .help = "rows of each table",
       .otherwise = "what fits a screen; 100 in JSON",
       .example = "10"},
      {.name = "verbose",
       .kind = ParameterKind::kFlag,
       .help =
           "all evidence, advice and sources, longer tables, every step, all that was not read"},
      {.name = "hta-compatible",
       .kind = ParameterKind::kFlag,
       .help = "the tables of HolisticTraceAnalysis instead, in its units and rounding"}};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

// Without a model there is no job.
JobRequest run_job(const Values& values) {
  return values.has("model") ? job_request(values) : JobRequest{};
}

}  // namespace

UseCase diagnose_use_case() {
  return {.name = "diagnose",
          .summary =
              "What is slow in a recorded run: where a step's time goes, on which rank, why, and "
              "what to do about it",
          .examples = {{{{"trace", "rank0.pt.trace.json.gz"}}},
                       {{{"trace", "logs/"}, {"steps", "3-7"}}},
                       {{{"trace", "logs/"}, {"fail-on", "input-bound,gain>10%"}}},
                       {{{"trace", "logs/"}, {"report", "report.html"}}},
                       {{{"trace", "logs/"}, {"output", "json"}}}},
          .parameters = diagnose_parameters(),
          .run =
              [](const Values& values, const Context& context, const Control& control) {
                TraceRequest traces = trace_request(values);
                traces.as_hta = values.has("hta-compatible");
                return reply_of(diagnose({.traces = std::move(traces),
                                          .device = values.one("device"),
                                          .framework = values.one("framework"),
                                          .fail_on = values.one("fail-on"),
                                          .timeline_file = values.one("timeline"),
                                          .report_file = values.one("report"),
                                          .model_flops = values.one("model-flops"),
                                          .top = values.one("top"),
                                          .cluster = values.one("on"),
                                          .job = run_job(values),
                                          .verbose = values.has("verbose")},
                                         context, control));
              },
          .stoppable = true};
}

}  // namespace sextant::app
