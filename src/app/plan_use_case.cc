#include <utility>

#include "app/emit_parameters.h"
#include "app/job_parameters.h"
#include "app/plan_command.h"
#include "app/use_cases.h"
#include "search/baselines/baselines.h"
#include "search/free_choices.h"
#include "search/objective.h"

namespace sextant::app {
namespace {

// What is planned for: the job, and what of it is fixed or free.
std::vector<Parameter> problem_parameters() {
  std::vector<Parameter> parameters = job_parameters();
  std::erase_if(parameters, [](const Parameter& one) { return one.name == "layout"; });
  for (Parameter& parameter : parameters) {
    if (parameter.name == "model") {
      parameter.help = "catalogue name or config.json; with files of your own theirs";
      parameter.required = false;
    } else if (parameter.name == "on") {
      parameter.required = false;  // files may say it
    } else if (parameter.name == "gbs") {
      parameter.otherwise = "about 4 Mi tokens a step";
    }
  }
  return joined(std::move(parameters),
                {{.name = "precision",
                  .kind = ParameterKind::kWord,
                  .value = "FORMAT",
                  .help = "of the large products",
                  .otherwise = "bf16 where the device multiplies fast in it, else fp16, else fp32",
                  .words = main_spellings(describe::kPrecisionWords),
                  .example = "fp8"},
                 {.name = "fix",
                  .kind = ParameterKind::kLayout,
                  .value = "LAYOUT",
                  .help = "keys that keep their value: tp=8,recompute=full",
                  .example = "tp=8"},
                 {.name = "free",
                  .kind = ParameterKind::kWords,
                  .value = "WHAT",
                  .help = "of what changes convergence: gbs, seq, precision, joined by commas",
                  .words = main_spellings(search::kFreeWords),
                  .example = "gbs,precision"},
                 headroom_parameter(),
                 {.name = "from",
                  .kind = ParameterKind::kFileToRead,
                  .value = "FILE",
                  .help = "your own job: the smallest changes worth making",
                  .example = "train.sh",
                  .many = true}});
}

std::vector<Parameter> objective_parameters() {
  return {{.name = "objective",
           .kind = ParameterKind::kWord,
           .value = "WHAT",
           .help = "step, memory, energy (tokens per joule), devices or cost",
           .fallback = "step",
           .words = main_spellings(search::kObjectiveWords),
           .example = "devices"},
          {.name = "tokens",
           .kind = ParameterKind::kTokens,
           .value = "COUNT",
           .help = "of a training: 15T, 300B; days and device-hours",
           .example = "15T"},
          {.name = "days",
           .kind = ParameterKind::kNumber,
           .value = "NUMBER",
           .help = "the deadline of those tokens",
           .example = "30"},
          {.name = "price",
           .kind = ParameterKind::kNumber,
           .value = "AMOUNT",
           .help = "of a device-hour: what those tokens cost",
           .example = "2.5"}};
}

std::vector<Parameter> answer_parameters() {
  return {{.name = "pareto",
           .kind = ParameterKind::kFlag,
           .help = "also what no other layout beats in both time and memory"},
          {.name = "top",
           .kind = ParameterKind::kCount,
           .value = "COUNT",
           .help = "plans shown, each of another mesh",
           .fallback = "5",
           .example = "3"},
          {.name = "why-not",
           .kind = ParameterKind::kLayout,
           .value = "LAYOUT",
           .help = "a layout: why it is not the plan",
           .example = "tp=8,pp=4"},
          dialect_parameter("emit", "also the plan as files of a framework", ""),
          launcher_parameter(),
          emit_folder_parameter(),
          {.name = "plot",
           .kind = ParameterKind::kFolderToWrite,
           .value = "FOLDER",
           .help = "pictures: memory, timeline, waterfall, heat map; with ‹pareto› the front",
           .example = "pictures"},
          {.name = "plot-as",
           .kind = ParameterKind::kWord,
           .value = "FORM",
           .help = "of the pictures: svg or png",
           .fallback = "svg",
           .words = {"svg", "png"},
           .example = "png"},
          {.name = "baselines",
           .kind = ParameterKind::kWords,
           .value = "NAMES",
           .help = "also what others choose: megatron-rule,alpa,black-box,random,exhaustive",
           .words = main_spellings(search::kBaselineWords),
           .example = "megatron-rule,alpa"},
          {.name = "proof",
           .kind = ParameterKind::kFlag,
           .help = "try what the search left out: all of it up to 1e8, else a sample"},
          {.name = "threads",
           .kind = ParameterKind::kCount,
           .value = "COUNT",
           .help = "to search with",
           .otherwise = "all",
           .example = "4"}};
}

PlanRequest plan_request_of(const Values& values, const Control& control) {
  PlanRequest request;
  request.job = job_request(values);
  request.job.layout = values.one("fix");
  request.from = values.all("from");
  request.precision = values.one("precision");
  request.free = values.one("free");
  request.headroom = values.one("headroom");
  request.top = values.one("top");
  request.threads = values.one("threads");
  request.objective = values.one("objective");
  request.days = values.one("days");
  request.training = {.tokens = values.one("tokens"), .price = values.one("price")};
  request.pareto = values.has("pareto");
  request.proof = values.has("proof");
  request.baselines = values.one("baselines");
  request.why_not = values.one("why-not");
  request.dialect = values.one("emit");
  request.launcher = values.one("launcher");
  request.folder = values.one("out");
  request.plot_folder = values.one("plot");
  request.plot_format = values.one("plot-as");
  request.stop = control.stop;
  request.progress = control.progress;
  return request;
}

Result<Reply> run_plan(const Values& values, const Context& context, const Control& control) {
  return reply_of(plan(plan_request_of(values, control), context));
}

}  // namespace

UseCase plan_use_case() {
  return {.name = "plan",
          .summary = "The best layout of a model on a cluster, why, and the files to run it",
          .examples = {{{{"model", "llama-3.1-70b"}, {"on", "64xh100-sxm"}, {"gbs", "256"}}},
                       {{{"model", "llama-3.1-70b"},
                         {"on", "64xh100-sxm"},
                         {"fix", "tp=8"},
                         {"why-not", "tp=8,pp=4"}}},
                       {{{"model", "llama-3.1-8b"},
                         {"on", "64xh100-sxm"},
                         {"objective", "devices"},
                         {"tokens", "1T"},
                         {"days", "9"}}},
                       {{{"model", "llama-3.1-8b"},
                         {"on", "8xh100-sxm"},
                         {"emit", "megatron"},
                         {"out", "job/"}}},
                       {{{"from", "train.sh"}, {"on", "h100-sxm"}}}},
          .parameters =
              joined(problem_parameters(), joined(objective_parameters(), answer_parameters())),
          .run = run_plan,
          .stoppable = true};
}

}  // namespace sextant::app
