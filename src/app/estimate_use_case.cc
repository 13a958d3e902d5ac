// estimate: the step of a job, or one collective alone.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "app/collective_command.h"
#include "app/collective_sweep.h"
#include "app/estimate_command.h"
#include "app/job_parameters.h"
#include "app/use_cases.h"
#include "base/text.h"
#include "describe/layout/sweep.h"

namespace sextant::app {
namespace {

std::vector<std::string_view> sweep_words() {
  std::vector<std::string_view> words = main_spellings(describe::kFactorWords);
  for (const std::string_view word : main_spellings(kCollectiveFactorWords)) {
    words.push_back(word);
  }
  return words;
}

std::vector<Parameter> collective_parameters() {
  return {{.name = "collective",
           .kind = ParameterKind::kWord,
           .value = "OPERATION",
           .help = "instead of MODEL: the time and bandwidth of a collective",
           .words = main_spellings(describe::kCollectiveOpWords),
           .example = "all_reduce"},
          {.name = "bytes",
           .kind = ParameterKind::kSize,
           .value = "SIZE",
           .help = "of a collective: 64MiB",
           .fallback = "1GiB",
           .example = "64MiB"},
          {.name = "ranks",
           .kind = ParameterKind::kCount,
           .value = "COUNT",
           .help = "of a collective: the first so many",
           .otherwise = "all devices",
           .example = "16"},
          {.name = "stride",
           .kind = ParameterKind::kCount,
           .value = "COUNT",
           .help = "of a collective: every so many-th rank",
           .fallback = "1",
           .example = "8"},
          {.name = "sweep",
           .kind = ParameterKind::kPrefix,
           .value = "FACTOR[=v,…]",
           .help = "vary mbs, seq, tp, hidden or precision, hold the rest; of a collective: bytes, "
                   "ranks, nodes, collective, link or nic",
           .words = sweep_words(),
           .example = "seq=4096,8192"},
          {.name = "plot",
           .kind = ParameterKind::kFileToWrite,
           .value = "FILE",
           .help = "draw the sweep as .svg or .png",
           .example = "mbs.svg"}};
}

std::vector<Parameter> estimate_parameters() {
  std::vector<Parameter> parameters = joined(
      job_parameters(collective_parameters()),
      {{.name = "tokens",
        .kind = ParameterKind::kTokens,
        .value = "COUNT",
        .help = "of a training: 15T, 300B; steps, days and device-hours",
        .example = "15T"},
       {.name = "price",
        .kind = ParameterKind::kNumber,
        .value = "AMOUNT",
        .help = "of a device-hour: what those tokens cost",
        .example = "2.5"},
       {.name = "timeline",
        .kind = ParameterKind::kFileToWrite,
        .value = "FILE",
        .help = "write the step as a Chrome trace (ui.perfetto.dev)",
        .example = "step.json"},
       {.name = "measured",
        .kind = ParameterKind::kFileToRead,
        .value = "TABLE",
        .help = "lay measured collectives beside a sweep of bytes",
        .example = "collectives.csv"},
       {.name = "verbose",
        .kind = ParameterKind::kFlag,
        .help = "compute in detail: phases, longest operators; of a collective: every constant "
                "with its source"}});
  parameters.front().required = false;  // a collective has no model
  return parameters;
}

// The first parameter that was given though it says nothing here.
Result<void> none_given(const Values& values, std::span<const std::string_view> names,
                        std::string_view what) {
  for (const std::string_view name : names) {
    if (const std::string value = values.one(name); !value.empty()) {
      return invalid(fmt::format("'{}' says nothing about {}", printable(value), what),
                     fmt::format("‹{}›", name));
    }
  }
  return {};
}

Result<Reply> run_estimate(const Values& values, const Context& context, const Control&) {
  constexpr std::array<std::string_view, 4> kOfCollectives{"bytes", "ranks", "stride", "measured"};
  constexpr std::array<std::string_view, 8> kOfJobs{"layout",   "framework", "seq",   "gbs",
                                                    "workload", "tokens",    "price", "timeline"};
  const bool job = values.has("model");
  if (job == values.has("collective")) {
    return invalid(job ? "‹model› and ‹collective› were both given" : "‹model› is missing",
                   "«estimate»", "a ‹model›, or ‹collective› OPERATION");
  }
  if (job) {
    SEXTANT_CHECK_OK(none_given(values, kOfCollectives, "a model: it goes with ‹collective›"));
    return reply_of(
        estimate({.job = job_request(values),
                  .sweep = values.one("sweep"),
                  .plot_file = values.one("plot"),
                  .timeline_file = values.one("timeline"),
                  .training = {.tokens = values.one("tokens"), .price = values.one("price")},
                  .verbose = values.has("verbose")},
                 context));
  }
  SEXTANT_CHECK_OK(none_given(values, kOfJobs, "a collective: it goes with ‹model›"));
  return reply_of(collective({.collective = values.one("collective"),
                              .cluster = values.one("on"),
                              .bytes = values.one("bytes"),
                              .ranks = values.one("ranks"),
                              .stride = values.one("stride"),
                              .sweep = values.one("sweep"),
                              .plot_file = values.one("plot"),
                              .measured = values.one("measured"),
                              .verbose = values.has("verbose")},
                             context));
}

}  // namespace

UseCase estimate_use_case() {
  return {.name = "estimate",
          .summary =
              "How long a step takes, where the time goes, whether it fits; or how long a "
              "collective takes",
          .examples =
              {{{{"model", "llama-3.1-70b"}, {"on", "64xh100-sxm"}, {"layout", "tp=8,pp=4,mbs=1"}}},
               {{{"model", "llama-3.1-8b"},
                 {"on", "64xh100-sxm"},
                 {"tokens", "15T"},
                 {"price", "2.5"}}},
               {{{"model", "llama-3.1-8b"}, {"on", "8xh200-sxm"}, {"timeline", "step.json"}}},
               {{{"model", "llama-3.1-8b"},
                 {"on", "1xh200-sxm"},
                 {"sweep", "mbs"},
                 {"plot", "mbs.svg"}}},
               {{{"model", "llama-3.1-8b"},
                 {"on", "8xh100-sxm"},
                 {"sweep", "seq=4096,8192"},
                 {"output", "json"}}},
               {{{"collective", "all_reduce"}, {"on", "4xdgx-h100"}, {"bytes", "1GiB"}}},
               {{{"collective", "all_gather"}, {"on", "4xdgx-h100"}, {"sweep", "bytes"}}}},
          .parameters = estimate_parameters(),
          .run = run_estimate};
}

}  // namespace sextant::app
