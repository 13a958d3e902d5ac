// explain: a rule, or what a job's numbers are made of.
#include <array>
#include <utility>

#include "app/describe_commands.h"
#include "app/estimate_command.h"
#include "app/job_parameters.h"
#include "app/memory_command.h"
#include "app/traffic_command.h"
#include "app/use_cases.h"
#include "app/work_command.h"

namespace sextant::app {
namespace {

using Explainer = Result<Explained> (*)(const JobRequest&, const Context&);
constexpr std::array<std::pair<std::string_view, Explainer>, 5> kTopics{
    {{"step", explain_step},
     {"compute", explain_compute},
     {"memory", explain_memory},
     {"traffic", explain_traffic},
     {"work", explain_work}}};

Result<Reply> run_explain(const Values& values, const Context& context, const Control&) {
  const std::string topic = values.one("topic");
  for (const auto& [name, explainer] : kTopics) {
    if (topic != name) {
      continue;
    }
    if (!values.has("model")) {
      return invalid("‹model› is missing", "«explain» " + topic,
                     "a catalogue name, a config.json, or -");
    }
    return reply_of(explainer(job_request(values), context));
  }
  return reply_of(explain_rule(topic, context));
}

std::vector<Parameter> explain_parameters() {
  std::vector<Parameter> parameters = job_parameters();
  for (Parameter& parameter : parameters) {
    parameter.required = false;  // a rule has no job
  }
  return joined({{.name = "topic",
                  .kind = ParameterKind::kRule,
                  .value = "TOPIC",
                  .help = "a rule's id, step, compute, memory, traffic or work; none: all rules",
                  .example = "KV-HEADS-TP",
                  .positional = true}},
                std::move(parameters));
}

}  // namespace

UseCase explain_use_case() {
  return {.name = "explain",
          .summary = "Why: what a rule asks for, or what a job's numbers are made of",
          .examples = {{{{"topic", "KV-HEADS-TP"}}},
                       {{{"topic", "input-bound"}}},
                       {{{"topic", "step"},
                         {"model", "llama-3.1-70b"},
                         {"on", "64xh100-sxm"},
                         {"layout", "tp=8,pp=4"}}},
                       {{{"topic", "memory"},
                         {"model", "llama-3.1-70b"},
                         {"on", "64xh100-sxm"},
                         {"layout", "tp=8,pp=4"}}},
                       {.given = {}}},
          .parameters = explain_parameters(),
          .run = run_explain};
}

}  // namespace sextant::app
