#include "front/cli/job_options.h"

namespace sextant::front {

Positional model_positional() {
  return {.name = "MODEL",
          .help = "catalogue name, Hugging Face config.json, or - for standard input",
          .required = true,
          .complete = "models"};
}

std::vector<Option> job_options(std::vector<Option> more) {
  std::vector<Option> options{
      {"--on", "CLUSTER", "COUNTxDEVICE[@FABRIC], COUNTxSYSTEM, a TPU slice, or a cluster.toml",
       "devices"},
      {"--layout", "LAYOUT", "key=value,…: tp=8,pp=4,mbs=1; or ici:fsdp=64,tensor=4",
       "layout-keys"},
      {"--framework", "NAME", "who runs it (default: the setting, megatron-core)", "frameworks"},
      {"--seq", "TOKENS", "tokens a sequence: 4096, packed:8192, … (default 4096)", ""},
      {"--gbs", "SEQUENCES", "global batch (default: one microbatch, four a pipeline rank)", ""},
      {"--workload", "KIND", "pretrain, sft, lora[:RANK[:MODULE+…]] or forward",
       "pretrain|sft|lora|forward"}};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

app::JobRequest job_request(const Arguments& arguments) {
  return {.model = arguments.one("MODEL"),
          .cluster = arguments.one("--on"),
          .layout = arguments.one("--layout"),
          .framework = arguments.one("--framework"),
          .sequences = arguments.one("--seq"),
          .global_batch = arguments.one("--gbs"),
          .workload = arguments.one("--workload")};
}

}  // namespace sextant::front
