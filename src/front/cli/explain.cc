#include <array>

#include "app/describe_commands.h"
#include "app/estimate_command.h"
#include "app/memory_command.h"
#include "app/traffic_command.h"
#include "app/work_command.h"
#include "front/cli/command.h"
#include "front/cli/job_options.h"

namespace sextant::front {
namespace {

using Explainer = Result<app::Output> (*)(const app::JobRequest&, const app::Context&);
// What a job's numbers are made of, by the word after `explain`.
constexpr std::array<std::pair<std::string_view, Explainer>, 5> kTopics{
    {{"step", app::explain_step},
     {"compute", app::explain_compute},
     {"memory", app::explain_memory},
     {"traffic", app::explain_traffic},
     {"work", app::explain_work}}};

Result<app::Output> explained(const Arguments& arguments, const app::Context& context) {
  const std::string topic = arguments.one("TOPIC");
  for (const auto& [name, explainer] : kTopics) {
    if (topic != name) {
      continue;
    }
    if (!arguments.has("MODEL")) {
      return Result<app::Output>(invalid("MODEL is missing", "sextant explain " + topic,
                                         "a catalogue name, a config.json, or -"));
    }
    return explainer(job_request(arguments), context);
  }
  return app::explain_rule(topic, context);
}

}  // namespace

Command explain_command() {
  Positional model = model_positional();
  model.required = false;
  return {
      .name = "explain",
      .summary = "Why: what a rule asks for, or what a job's numbers are made of",
      .examples = {"sextant explain KV-HEADS-TP",
                   "sextant explain step llama-3.1-70b --on 64xh100-sxm --layout tp=8,pp=4",
                   "sextant explain memory llama-3.1-70b --on 64xh100-sxm --layout tp=8,pp=4",
                   "sextant explain"},
      .positionals = {{.name = "TOPIC",
                       .help =
                           "a rule's id, step, compute, memory, traffic or work; none: all rules",
                       .required = false,
                       .complete = "rules"},
                      model},
      .options = job_options(),
      .run = explained};
}

}  // namespace sextant::front
