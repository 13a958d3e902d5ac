#include "app/memory_command.h"
#include "front/cli/command.h"
#include "front/cli/job_options.h"

namespace sextant::front {

Command memory_command() {
  return {.name = "memory",
          .summary = "Does it fit: what each pipeline rank holds at its fullest moment",
          .examples = {"sextant memory llama-3.1-70b --on 64xh100-sxm --layout tp=8,pp=4,mbs=1",
                       "sextant memory deepseek-v3 --on 256xh200-sxm --layout ep=32,pp=8 --json"},
          .positionals = {model_positional()},
          .options = job_options(),
          .run = [](const Arguments& arguments, const app::Context& context) {
            return app::show_memory(job_request(arguments), context);
          }};
}

}  // namespace sextant::front
