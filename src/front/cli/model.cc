#include "app/describe_commands.h"
#include "front/cli/command.h"

namespace sextant::front {

Command model_command() {
  return {
      .name = "model",
      .summary = "What is this model: parameters, total and active, block by block",
      .examples = {"sextant model llama-3.1-70b", "sextant model deepseek-v3 --json",
                   "sextant model path/to/config.json", "sextant model --list"},
      .positionals = {{.name = "MODEL",
                       .help = "catalogue name, Hugging Face config.json, or - for standard input",
                       .required = false,
                       .complete = "models"}},
      .options = {{"--list", "", "the names of the catalogue", ""}},
      .run = [](const Arguments& arguments, const app::Context& context) {
        if (arguments.has("--list")) {
          return app::list_models(context);
        }
        if (!arguments.has("MODEL")) {
          return Result<app::Output>(invalid("MODEL is missing", "sextant model",
                                             "a catalogue name (see --list), a config.json, or -"));
        }
        return app::show_model(arguments.one("MODEL"), context);
      }};
}

}  // namespace sextant::front
