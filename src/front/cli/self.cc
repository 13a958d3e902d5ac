// config, doctor and the hidden word list: the program about itself.
#include "app/describe_commands.h"
#include "app/self_commands.h"
#include "front/cli/command.h"
#include "front/cli/exit_codes.h"

namespace sextant::front {
namespace {

Result<Output> run_config(const Arguments& arguments, const Session& session) {
  if (arguments.one("ACTION") != "show") {
    return invalid("'" + arguments.one("ACTION") + "' is not an action", "sextant config", "show");
  }
  const auto answer = app::show_config(session.context, arguments.has("--origin"));
  return Output{explain::to_text(answer, session.style), {}, kExitFine};
}

Result<Output> run_doctor(const Arguments& /*arguments*/, const Session& session) {
  const auto found = app::doctor(session.context, app::Surroundings::of_process());
  return Output{explain::to_text(found.answer, session.style), {}, exit_code_of(found.outcome)};
}

Result<Output> run_complete(const Arguments& arguments, const Session& session) {
  SEXTANT_TRY(const explain::WordsAnswer words,
              app::complete_words(arguments.one("KIND"), session.context));
  return Output{explain::to_text(words, session.style), {}, kExitFine};
}

}  // namespace

Command config_command() {
  return {.name = "config",
          .summary = "The settings in force, and where each comes from",
          .examples = {"sextant config show --origin"},
          .positionals = {{.name = "ACTION", .help = "show", .required = true, .complete = "show"}},
          .options = {{"--origin", "", "say where each value comes from", ""}},
          .run = run_config};
}

Command doctor_command() {
  return {.name = "doctor",
          .summary = "Is everything in order: data, settings, terminal",
          .examples = {"sextant doctor"},
          .positionals = {},
          .options = {},
          .run = run_doctor};
}

Command complete_command() {
  return {
      .name = "__complete",
      .summary = "Words for shell completion",
      .examples = {},
      .positionals = {{.name = "KIND", .help = "kind of word", .required = true, .complete = ""}},
      .options = {},
      .run = run_complete,
      .hidden = true};
}

}  // namespace sextant::front
