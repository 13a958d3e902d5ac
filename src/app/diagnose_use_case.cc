#include <iterator>

#include "app/diagnose.h"
#include "app/trace_parameters.h"
#include "app/use_cases.h"

namespace sextant::app {
namespace {

std::vector<Parameter> diagnose_parameters() {
  std::vector<Parameter> all = trace_parameters();
  const std::vector<Parameter> own{
      {.name = "device",
       .kind = ParameterKind::kDevice,
       .value = "DEVICE",
       .help = "whose peaks utilisation is of",
       .otherwise = "the one that the profile names",
       .example = "h100-sxm"},
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
       .help = "longer tables, every step, all that was not read"},
      {.name = "hta-compatible",
       .kind = ParameterKind::kFlag,
       .help = "the tables of HolisticTraceAnalysis instead, in its units and rounding"}};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

}  // namespace

UseCase diagnose_use_case() {
  return {.name = "diagnose",
          .summary =
              "What profiles of a job show: where a step's time goes, on which rank, and why "
              "devices wait",
          .examples = {{{{"trace", "rank0.pt.trace.json.gz"}}},
                       {{{"trace", "logs/"}, {"steps", "3-7"}}},
                       {{{"trace", "logs/"}, {"output", "json"}}}},
          .parameters = diagnose_parameters(),
          .run =
              [](const Values& values, const Context& context, const Control& control) {
                TraceRequest traces = trace_request(values);
                traces.as_hta = values.has("hta-compatible");
                return reply_of(diagnose({.traces = std::move(traces),
                                          .device = values.one("device"),
                                          .model_flops = values.one("model-flops"),
                                          .top = values.one("top"),
                                          .verbose = values.has("verbose")},
                                         context, control));
              },
          .stoppable = true};
}

}  // namespace sextant::app
