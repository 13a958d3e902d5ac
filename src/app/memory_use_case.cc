#include "app/job_parameters.h"
#include "app/memory_command.h"
#include "app/use_cases.h"

namespace sextant::app {

UseCase memory_use_case() {
  return {.name = "memory",
          .summary = "Does it fit: what each pipeline rank holds at its fullest moment",
          .examples =
              {{{{"model", "llama-3.1-70b"}, {"on", "64xh100-sxm"}, {"layout", "tp=8,pp=4,mbs=1"}}},
               {{{"model", "deepseek-v3"},
                 {"on", "256xh200-sxm"},
                 {"layout", "ep=32,pp=8"},
                 {"output", "json"}}}},
          .parameters = job_parameters(),
          .run = [](const Values& values, const Context& context, const Control&) {
            return reply_of(memory(job_request(values), context));
          }};
}

}  // namespace sextant::app
