// config, doctor and the hidden word list: the program about itself.
#include "app/describe_commands.h"
#include "app/self_commands.h"
#include "front/cli/command.h"
#include "front/cli/exit_codes.h"

namespace sextant::front {

namespace {

Result<app::Output> complete_text(const std::string& kind, const app::Context& context) {
  SEXTANT_TRY(const explain::WordsAnswer words, app::complete_words(kind, context));
  return app::Output{explain::to_text(words, context.style), {}, 0};
}

}  // namespace

Command config_command() {
  return {
      .name = "config",
      .summary = "The settings in force, and where each comes from",
      .examples = {"sextant config show --origin"},
      .positionals = {{.name = "ACTION", .help = "show", .required = true, .complete = "show"}},
      .options = {{"--origin", "", "say where each value comes from", ""}},
      .run = [](const Arguments& arguments, const app::Context& context) {
        if (arguments.one("ACTION") != "show") {
          return Result<app::Output>(invalid("'" + arguments.one("ACTION") + "' is not an action",
                                             "sextant config", "show"));
        }
        return Result<app::Output>(
            {explain::to_text(app::show_config(context, arguments.has("--origin")), context.style),
             {},
             kExitFine});
      }};
}

Command doctor_command() {
  return {.name = "doctor",
          .summary = "Is everything in order: data, settings, terminal",
          .examples = {"sextant doctor"},
          .positionals = {},
          .options = {},
          .run = [](const Arguments&, const app::Context& context) {
            const auto found = app::doctor(context, app::Surroundings::of_process());
            return Result<app::Output>(
                {explain::to_text(found.answer, context.style), {}, exit_code_of(found.outcome)});
          }};
}

Command complete_command() {
  return {
      .name = "__complete",
      .summary = "Words for shell completion",
      .examples = {},
      .positionals = {{.name = "KIND", .help = "kind of word", .required = true, .complete = ""}},
      .options = {},
      .run =
          [](const Arguments& arguments, const app::Context& context) {
            return complete_text(arguments.one("KIND"), context);
          },
      .hidden = true};
}

}  // namespace sextant::front
