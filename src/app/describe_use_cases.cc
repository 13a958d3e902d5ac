// model and cluster: what is given.
#include "app/describe_commands.h"
#include "app/job_parameters.h"
#include "app/use_cases.h"

namespace sextant::app {
namespace {

Result<Reply> run_model(const Values& values, const Context& context, const Control&) {
  if (values.has("list")) {
    return reply_of(list_models(context));
  }
  if (!values.has("model")) {
    return invalid("‹model› is missing", "«model»",
                   "a catalogue name (see ‹list›), a config.json, or -");
  }
  return reply_of(model(values.one("model"), context));
}

Result<Reply> run_cluster(const Values& values, const Context& context, const Control&) {
  if (values.has("list")) {
    return reply_of(list_hardware(context));
  }
  if (!values.has("cluster")) {
    return invalid("‹cluster› is missing", "«cluster»",
                   "COUNTxDEVICE such as 64xh100-sxm (see ‹list›), or a cluster.toml");
  }
  return reply_of(cluster(values.one("cluster"), context));
}

}  // namespace

UseCase model_use_case() {
  Parameter which = model_parameter();
  which.required = false;
  return {.name = "model",
          .summary = "What is this model: parameters, total and active, block by block",
          .examples = {{{{"model", "llama-3.1-70b"}}},
                       {{{"model", "deepseek-v3"}, {"output", "json"}}},
                       {{{"model", "path/to/config.json"}}},
                       {{{"list", ""}}}},
          .parameters = {which,
                         {.name = "list",
                          .kind = ParameterKind::kFlag,
                          .help = "the names of the catalogue"}},
          .run = run_model};
}

UseCase cluster_use_case() {
  Parameter which = cluster_parameter();
  which.name = "cluster";
  which.required = false;
  which.positional = true;
  return {.name = "cluster",
          .summary = "What is this machine: peaks, memory and links, each with its source",
          .examples = {{{{"cluster", "64xh100-sxm"}}},
                       {{{"cluster", "2048xa100-sxm-80g@ib-200"}}},
                       {{{"cluster", "v5p-512"}}},
                       {{{"cluster", "cluster.toml"}, {"output", "json"}}},
                       {{{"list", ""}}}},
          .parameters = {which,
                         {.name = "list",
                          .kind = ParameterKind::kFlag,
                          .help = "all devices, systems and fabrics"}},
          .run = run_cluster};
}

}  // namespace sextant::app
