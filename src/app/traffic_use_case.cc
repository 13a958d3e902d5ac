#include "app/job_parameters.h"
#include "app/traffic_command.h"
#include "app/use_cases.h"
#include "workload/matrix.h"

namespace sextant::app {
namespace {

std::vector<Parameter> traffic_parameters() {
  return job_parameters({{.name = "matrix",
                          .kind = ParameterKind::kFileToWrite,
                          .value = "FILE",
                          .help = "write who sends how much to whom as CSV",
                          .example = "nodes.csv"},
                         {.name = "heat-map",
                          .kind = ParameterKind::kFileToWrite,
                          .value = "FILE",
                          .help = "draw that as .svg or .png",
                          .example = "m.svg"},
                         {.name = "pattern",
                          .kind = ParameterKind::kFileToWrite,
                          .value = "FILE",
                          .help = "draw a microbatch's bursts and work as .svg or .png",
                          .example = "p.svg"},
                         {.name = "by",
                          .kind = ParameterKind::kWord,
                          .value = "KIND",
                          .help = "rows of matrix and heat map: rank, node or rail",
                          .fallback = "rank",
                          .words = main_spellings(workload::kMatrixByWords),
                          .example = "node"}});
}

}  // namespace

UseCase traffic_use_case() {
  return {.name = "traffic",
          .summary = "What is sent: every message of a step, who to whom, and how far",
          .examples =
              {{{{"model", "llama-3.1-70b"}, {"on", "64xh100-sxm"}, {"layout", "tp=8,pp=4,mbs=1"}}},
               {{{"model", "deepseek-v3"},
                 {"on", "256xh200-sxm"},
                 {"layout", "ep=32,pp=8"},
                 {"output", "json"}}},
               {{{"model", "llama-3.1-8b"},
                 {"on", "64xh100-sxm"},
                 {"layout", "tp=4"},
                 {"heat-map", "m.svg"}}},
               {{{"model", "llama-3.1-8b"},
                 {"on", "64xh100-sxm"},
                 {"by", "node"},
                 {"matrix", "nodes.csv"}}}},
          .parameters = traffic_parameters(),
          .run = [](const Values& values, const Context& context, const Control&) {
            return reply_of(traffic({.job = job_request(values),
                                     .matrix_file = values.one("matrix"),
                                     .heat_map_file = values.one("heat-map"),
                                     .pattern_file = values.one("pattern"),
                                     .by = values.one("by")},
                                    context));
          }};
}

}  // namespace sextant::app
