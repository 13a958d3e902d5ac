#include "app/collective_command.h"
#include "front/cli/command.h"
#include "front/cli/job_options.h"

namespace sextant::front {
namespace {

Positional model_or_collective() {
  Positional positional = model_positional();
  positional.required = false;
  return positional;
}

std::vector<Option> estimate_options() {
  return job_options(
      {{"--collective", "OPERATION", "instead of MODEL: the time and bandwidth of a collective",
        "all_reduce|all_gather|reduce_scatter|all_to_all|sendrecv|broadcast"},
       {"--bytes", "SIZE", "of a collective: 64MiB (default 1 GiB)", ""},
       {"--ranks", "COUNT", "of a collective: the first so many (default all devices)", ""},
       {"--stride", "COUNT", "of a collective: every so many-th rank (default 1)", ""},
       {"--sweep", "FACTOR[=v,…]",
        "vary mbs, seq, tp, hidden or precision, hold the rest; of a collective: bytes, ranks, "
        "nodes, collective, link or nic",
        "mbs|seq|tp|hidden|precision|bytes|ranks|nodes|collective|link|nic"},
       {"--plot", "FILE", "draw the sweep as .svg or .png", "files"},
       {"--tokens", "COUNT", "of a training: 15T, 300B; steps, days and device-hours", ""},
       {"--price", "AMOUNT", "of a device-hour: what those tokens cost", ""},
       {"--timeline", "FILE", "write the step as a Chrome trace (ui.perfetto.dev)", "files"},
       {"--measured", "TABLE", "lay measured collectives beside --sweep bytes", "files"},
       {"--verbose", "",
        "compute in detail: phases, longest operators; of a collective: every constant with its "
        "source",
        ""}});
}

app::CollectiveRequest collective_request(const Arguments& arguments) {
  return {.collective = arguments.one("--collective"),
          .cluster = arguments.one("--on"),
          .bytes = arguments.one("--bytes"),
          .ranks = arguments.one("--ranks"),
          .stride = arguments.one("--stride"),
          .sweep = arguments.one("--sweep"),
          .plot_file = arguments.one("--plot"),
          .measured = arguments.one("--measured"),
          .verbose = arguments.has("--verbose")};
}

}  // namespace

Command estimate_command() {
  return {
      .name = "estimate",
      .summary =
          "How long a step takes, where the time goes, whether it fits; or how long a "
          "collective takes",
      .examples = {"sextant estimate llama-3.1-70b --on 64xh100-sxm --layout tp=8,pp=4,mbs=1",
                   "sextant estimate llama-3.1-8b --on 64xh100-sxm --tokens 15T --price 2.5",
                   "sextant estimate llama-3.1-8b --on 8xh200-sxm --timeline step.json",
                   "sextant estimate llama-3.1-8b --on 1xh200-sxm --sweep mbs --plot mbs.svg",
                   "sextant estimate llama-3.1-8b --on 8xh100-sxm --sweep seq=4096,8192 --json",
                   "sextant estimate --collective all_reduce --on 4xdgx-h100 --bytes 1GiB",
                   "sextant estimate --collective all_gather --on 4xdgx-h100 --sweep bytes"},
      .positionals = {model_or_collective()},
      .options = estimate_options(),
      .run = [](const Arguments& arguments, const app::Context& context) {
        return app::show_estimate_or_collective(
            {.job = job_request(arguments),
             .sweep = arguments.one("--sweep"),
             .plot_file = arguments.one("--plot"),
             .timeline_file = arguments.one("--timeline"),
             .training = {.tokens = arguments.one("--tokens"), .price = arguments.one("--price")},
             .verbose = arguments.has("--verbose")},
            collective_request(arguments), context);
      }};
}

}  // namespace sextant::front
