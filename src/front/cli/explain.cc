#include "app/describe_commands.h"
#include "front/cli/command.h"

namespace sextant::front {

Command explain_command() {
  return {.name = "explain",
          .summary = "Why: what a rule asks for, why, and what to change",
          .examples = {"sextant explain KV-HEADS-TP", "sextant explain"},
          .positionals = {{.name = "RULE",
                           .help = "a rule's id; without one, all rules",
                           .required = false,
                           .complete = "rules"}},
          .options = {},
          .run = [](const Arguments& arguments, const app::Context& context) {
            return app::explain_rule(arguments.one("RULE"), context);
          }};
}

}  // namespace sextant::front
