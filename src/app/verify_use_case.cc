#include "app/job_parameters.h"
#include "app/trace_parameters.h"
#include "app/use_cases.h"
#include "app/verify_command.h"

namespace sextant::app {
namespace {

// The job as it stands: by words, by the user's files, or as a profiler reports it.
std::vector<Parameter> judged_job_parameters() {
  std::vector<Parameter> parameters = training_parameters();
  for (Parameter& parameter : parameters) {
    parameter.required = parameter.required && parameter.name != "model" && parameter.name != "on";
    if (parameter.name == "layout") {
      parameter.help = "as the job stands";
    }
  }
  return parameters;
}

std::vector<Parameter> proposal_parameters() {
  using enum ParameterKind;
  return {
      {.name = "change",
       .kind = kLayout,
       .value = "CHANGE",
       .help = "layout keys that change: tp=4,mbs=2; of a case a mesh: ici:data=16,tensor=8",
       .example = "tp=4,mbs=2"},
      {.name = "setting",
       .value = "TEXT",
       .help = "a setting that no layout key says, in the framework's words",
       .example = "num_workers 8"},
      {.name = "mends",
       .value = "RULE",
       .help = "the finding of the run that such a setting is to mend",
       .example = "input-bound"},
      {.name = "claim",
       .value = "CLAIM",
       .help = "what it does: QUANTITY lower, same or higher, with the ratio after over before "
               "where it is claimed",
       .otherwise = "step lower",
       .example = "step lower x0.7..0.85",
       .many = true},
      {.name = "cite",
       .value = "SOURCE",
       .help = "what that rests on: kb:ID, rule:ID, finding:RULE or model; with a claim after "
               "it, what it is cited for",
       .example = "kb:interleave-stages",
       .many = true},
      {.name = "devices",
       .kind = kCount,
       .value = "COUNT",
       .help = "that it is said to run on",
       .otherwise = "the job's",
       .example = "64"},
      {.name = "title", .value = "TEXT", .help = "in a line", .example = "less tensor parallel"},
      {.name = "author",
       .value = "NAME",
       .help = "who proposes it",
       .otherwise = "the user",
       .example = "Ada"}};
}

std::vector<Parameter> evidence_parameters() {
  using enum ParameterKind;
  return {{.name = "from",
           .kind = kFileToRead,
           .value = "FILE",
           .help = "the job's own scripts, configuration files, logs, or one folder of them all",
           .example = "train.sh",
           .many = true},
          case_parameter(),
          {.name = "trace",
           .kind = kFileToRead,
           .value = "TRACE",
           .help = "a recorded run of it, whose findings may be cited and mended",
           .example = "logs/",
           .many = true},
          judged_device_parameter(),
          headroom_parameter()};
}

Result<Reply> run_verify(const Values& values, const Context& context, const Control& control) {
  VerifyRequest request{.job = {.job = job_request(values),
                                .from = values.all("from"),
                                .case_file = values.one("case"),
                                .device = values.one("device"),
                                .headroom = values.one("headroom"),
                                .logs = false},
                        .change = values.one("change"),
                        .setting = values.one("setting"),
                        .mends = values.one("mends"),
                        .title = values.one("title"),
                        .devices = values.one("devices"),
                        .claims = values.all("claim"),
                        .citations = values.all("cite"),
                        .author = values.one("author")};
  request.job.traces.traces = values.all("trace");
  return reply_of(verify_proposal(request, context, control));
}

}  // namespace

UseCase verify_use_case() {
  return {.name = "verify",
          .summary = "Is a proposed change legal, does it fit, and is what is claimed of it so",
          .examples = {{{{"model", "llama-3.1-70b"},
                         {"on", "64xh100-sxm"},
                         {"layout", "tp=8,pp=4,mbs=1"},
                         {"change", "tp=4"},
                         {"claim", "\"step lower x0.7..0.95\""},
                         {"cite", "model"}}},
                       {{{"from", "train.sh"},
                         {"on", "64xh100-sxm"},
                         {"change", "recompute=none"},
                         {"claim", "\"fits same\""}}}},
          .parameters =
              joined(joined(judged_job_parameters(), proposal_parameters()), evidence_parameters()),
          .run = run_verify,
          .stoppable = true};
}

}  // namespace sextant::app
