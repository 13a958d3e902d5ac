#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/job_parameters.h"
#include "app/trace_parameters.h"
#include "app/tune_command.h"
#include "app/use_cases.h"
#include "base/text.h"
#include "describe/words.h"

namespace sextant::app {
namespace {

// In the place of a model: the log of sessions.
constexpr std::string_view kLogWord = "log";
constexpr std::array<std::string_view, 2> kLogActions{"show", "replay"};

// The job, as it runs.
std::vector<Parameter> tuned_job_parameters() {
  std::vector<Parameter> parameters = training_parameters();
  for (Parameter& parameter : parameters) {
    parameter.required = false;
    if (parameter.name == "model") {
      parameter.help = "catalogue name or config.json, with files of your own theirs; or log";
    } else if (parameter.name == "on") {
      parameter.help = "the cluster; of a case, the slice to go to: 8x16, v6e-128";
    } else if (parameter.name == "layout") {
      parameter.help = "as the job runs";
      parameter.otherwise = "that of the files; without one, none runs yet";
    }
  }
  const auto after_model = std::ranges::find(parameters, "model", &Parameter::name) + 1;
  parameters.insert(after_model, {.name = "what",
                                  .value = "WHAT",
                                  .help = "after log: show or replay, and a session",
                                  .example = "show",
                                  .many = true,
                                  .positional = true});
  return parameters;
}

std::vector<Parameter> recorded_parameters() {
  using enum ParameterKind;
  std::vector<Parameter> parameters{
      {.name = "from",
       .kind = kFileToRead,
       .value = "FILE",
       .help = "your own job: scripts, configuration files, logs, or one folder of them all",
       .example = "train.sh",
       .many = true},
      case_parameter()};
  for (Parameter& parameter : trace_parameters_of_others()) {
    parameters.push_back(std::move(parameter));
  }
  parameters.push_back(judged_device_parameter());
  return parameters;
}

std::vector<Parameter> wish_parameters() {
  using enum ParameterKind;
  return {{.name = "pin",
           .kind = kLayout,
           .value = "KEYS",
           .help = "keys that keep these values: tp=8,recompute=none; of a case axes: model=8",
           .example = "tp=8,recompute=none"},
          {.name = "idea",
           .value = "CHANGE",
           .help = "a change of your own that is judged too: tp=4,mbs=2; of a case a mesh",
           .example = "tp=4,mbs=2",
           .many = true},
          {.name = "among",
           .kind = kFileToRead,
           .value = "FILE",
           .help = "choose only among these layouts (of a case meshes), one a line",
           .example = "layouts.txt"},
          headroom_parameter(),
          {.name = "no-kb", .kind = kFlag, .help = "without the knowledge base"},
          {.name = "no-planner",
           .kind = kFlag,
           .help = "without the planner; of a case, without models"},
          {.name = "no-profile", .kind = kFlag, .help = "as if nothing had been recorded"},
          {.name = "kb",
           .kind = kFileToWrite,
           .value = "FILE",
           .help = "one's own entries, and the log of sessions",
           .otherwise = "the setting, else sextant/kb.sqlite in XDG_DATA_HOME",
           .example = "team.sqlite"},
          {.name = "session",
           .value = "NAME",
           .help = "what the log calls it",
           .otherwise = "named by what is asked",
           .example = "may-14"},
          {.name = "no-log", .kind = kFlag, .help = "write nothing into the log"},
          {.name = "top",
           .kind = kCount,
           .value = "COUNT",
           .help = "rows of a table",
           .otherwise = "all: five operators, three turned down",
           .example = "3"},
          {.name = "verbose",
           .kind = kFlag,
           .help = "every fact with its source, all evidence, what was turned down in full"}};
}

Result<Reply> run_log(const Values& values, const Context& context, const Control& control) {
  const std::vector<std::string> what = values.all("what");
  const std::string action = what.empty() ? std::string() : what.front();
  if (std::ranges::find(kLogActions, action) == kLogActions.end()) {
    return describe::unknown_word(action, {kLogActions.begin(), kLogActions.end()}, "action",
                                  "«tune» log");
  }
  for (const auto& [name, given] : values.given()) {
    if (!is_one_of(name, {"model", "what", "kb"})) {
      return invalid(fmt::format("‹{}› is not taken", name), "«tune» log", "a session, and ‹kb›");
    }
  }
  if (what.size() > 2 || (action == "replay" && what.size() != 2)) {
    return invalid(fmt::format("{} sessions are named", what.size() - 1),
                   fmt::format("«tune» log {}", action), "one, that «tune» log show lists");
  }
  return reply_of(tune_log({.kb_file = values.one("kb"),
                            .session = what.size() == 2 ? what.back() : std::string(),
                            .replays = action == "replay"},
                           context, control));
}

Result<Reply> run_tune(const Values& values, const Context& context, const Control& control) {
  if (values.one("model") == kLogWord) {
    return run_log(values, context, control);
  }
  if (values.has("what")) {
    return invalid("a model has nothing after it", "‹what›", "‹model› alone, or log show");
  }
  return reply_of(tune(tune_request(values), context, control));
}

}  // namespace

TuneRequest tune_request(const Values& values) {
  TuneRequest request{.job = job_request(values),
                      .from = values.all("from"),
                      .case_file = values.one("case"),
                      .traces = trace_request(values),
                      .device = values.one("device"),
                      .pin = values.one("pin"),
                      .ideas = values.all("idea"),
                      .among = values.one("among"),
                      .headroom = values.one("headroom"),
                      .top = values.one("top"),
                      .kb_file = values.one("kb"),
                      .session = values.one("session"),
                      .without_kb = values.has("no-kb"),
                      .without_planner = values.has("no-planner"),
                      .without_profile = values.has("no-profile"),
                      .logs = !values.has("no-log") && !values.has("dry-run-llm"),
                      .llm = llm_words(values),
                      .verbose = values.has("verbose")};
  for (const auto& [name, given] : values.given()) {
    for (const std::string& value : given) {
      request.words.emplace_back(name, value);
    }
  }
  return request;
}

UseCase tune_use_case() {
  return {
      .name = "tune",
      .summary =
          "What holds a job up and which changes are worth making, each judged before it "
          "is shown",
      .examples = {{{{"from", "train.sh"}, {"trace", "logs/"}, {"on", "64xh100-sxm"}}},
                   {{{"case", "case.toml"}, {"idea", "data=16,seq=4,model=8"}}},
                   {{{"model", "llama-3.1-70b"},
                     {"on", "64xh100-sxm"},
                     {"layout", "tp=8,pp=4"},
                     {"pin", "tp=8"}}},
                   {{{"model", "llama-3.1-8b"}, {"on", "8xh100-sxm"}, {"among", "layouts.txt"}}},
                   {{{"from", "train.sh"},
                     {"on", "64xh100-sxm"},
                     {"llm", "http://127.0.0.1:8080"},
                     {"llm-model", "qwen3-32b"}}},
                   {{{"model", "log"}, {"what", "show"}}}},
      .parameters =
          joined(joined(tuned_job_parameters(), joined(recorded_parameters(), wish_parameters())),
                 llm_parameters()),
      .run = run_tune,
      .stoppable = true};
}

}  // namespace sextant::app
