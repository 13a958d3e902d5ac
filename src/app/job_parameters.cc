#include "app/job_parameters.h"

#include <algorithm>
#include <utility>

#include "describe/layout/job.h"

namespace sextant::app {

Parameter model_parameter() {
  return {.name = "model",
          .kind = ParameterKind::kModel,
          .value = "MODEL",
          .help = "catalogue name, Hugging Face config.json, or - for standard input",
          .example = "llama-3.1-8b",
          .required = true,
          .positional = true};
}

Parameter cluster_parameter() {
  return {.name = "on",
          .kind = ParameterKind::kCluster,
          .value = "CLUSTER",
          .help = "COUNTxDEVICE[@FABRIC], COUNTxSYSTEM, a TPU slice, or a cluster.toml",
          .example = "64xh100-sxm",
          .required = true};
}

Parameter workload_parameter() {
  return {.name = "workload",
          .kind = ParameterKind::kPrefix,
          .value = "KIND",
          .help = "pretrain, sft, lora[:RANK[:MODULE+…]] or forward",
          .fallback = "pretrain",
          .words = main_spellings(describe::kWorkloadWords),
          .example = "lora:16"};
}

std::vector<Parameter> joined(std::vector<Parameter> first, std::vector<Parameter> more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

std::vector<Parameter> job_parameters(std::vector<Parameter> more) {
  return joined({model_parameter(),
                 cluster_parameter(),
                 {.name = "layout",
                  .kind = ParameterKind::kLayout,
                  .value = "LAYOUT",
                  .help = "key=value,…: tp=8,pp=4,mbs=1; or ici:fsdp=64,tensor=4",
                  .otherwise = "the framework's own values",
                  .example = "tp=8,pp=4,mbs=1"},
                 {.name = "framework",
                  .kind = ParameterKind::kFramework,
                  .value = "NAME",
                  .help = "who runs it",
                  .otherwise = "the setting; maxtext on TPUs, other on CPUs, else megatron-core",
                  .words = main_spellings(describe::kFrameworkWords),
                  .example = "torchtitan"},
                 {.name = "seq",
                  .value = "TOKENS",
                  .help = "tokens a sequence: 4096, packed:8192, …",
                  .otherwise = "4096, or the model's most where smaller",
                  .example = "packed:8192"},
                 {.name = "gbs",
                  .kind = ParameterKind::kCount,
                  .value = "SEQUENCES",
                  .help = "global batch",
                  .otherwise = "about 4 Mi tokens a step, as replicas share them",
                  .example = "256"},
                 workload_parameter()},
                std::move(more));
}

std::vector<Parameter> training_parameters() {
  std::vector<Parameter> parameters = job_parameters();
  const auto workload = std::ranges::find(parameters, "workload", &Parameter::name);
  workload->help = "pretrain, sft or lora[:RANK[:MODULE+…]]";
  std::erase(workload->words, std::string_view("forward"));
  return parameters;
}

Parameter headroom_parameter() {
  return {.name = "headroom",
          .kind = ParameterKind::kShare,
          .value = "SHARE",
          .help = "of a device's memory that stays free",
          .fallback = "5%",
          .example = "10%"};
}

Parameter case_parameter() {
  return {.name = "case",
          .kind = ParameterKind::kFileToRead,
          .value = "FILE.toml",
          .help = "what a profiler reports of a job whose model is confidential",
          .example = "case.toml"};
}

JobRequest job_request(const Values& values) {
  return {.model = values.one("model"),
          .cluster = values.one("on"),
          .layout = values.one("layout"),
          .framework = values.one("framework"),
          .sequences = values.one("seq"),
          .global_batch = values.one("gbs"),
          .workload = values.one("workload")};
}

FileRequest file_request(std::vector<std::string> files, std::string model, const Values& values) {
  return {.files = std::move(files),
          .model = std::move(model),
          .cluster = values.one("on"),
          .sequences = values.one("seq"),
          .global_batch = values.one("gbs"),
          .workload = values.one("workload")};
}

}  // namespace sextant::app
