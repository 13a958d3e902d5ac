#include "app/job_request.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/cluster/cluster_inputs.h"
#include "describe/cluster/load_cluster.h"
#include "describe/layout/framework_defaults.h"
#include "describe/layout/job_defaults.h"
#include "describe/layout/job_layout.h"
#include "describe/layout/legality.h"
#include "describe/model/load_model.h"

namespace sextant::app {
namespace {

using describe::Job;

constexpr std::int64_t kMostBatch = 1'000'000'000;
constexpr std::int64_t kMostLoraRank = 1'000'000;

// The one asked for, else the setting's; where that is open too, what runs on the machine.
Result<void> read_framework(const JobRequest& request, const Context& context, Job& job) {
  const std::string& word =
      request.framework.empty() ? context.settings.at("framework").value : request.framework;
  if (request.framework.empty() && word == "auto") {
    job.framework = describe::default_framework(job.cluster);
    return {};
  }
  SEXTANT_TRY(job.framework, describe::parse_word<describe::Framework>(
                                 describe::kFrameworkWords, word, "framework", "‹framework›"));
  return {};
}

Result<void> read_sequences(const JobRequest& request, Job& job) {
  if (!request.sequences.empty()) {
    SEXTANT_TRY(job.sequences, describe::parse_sequences(request.sequences));
    return {};
  }
  describe::fill_sequences(job);
  return {};
}

Result<void> read_batch(const JobRequest& request, Job& job) {
  if (!request.global_batch.empty()) {
    const auto batch = to_integer(request.global_batch);
    if (!batch || *batch < 1 || *batch > kMostBatch) {
      return invalid(fmt::format("'{}' is not a global batch", printable(request.global_batch)),
                     "‹gbs›", fmt::format("a whole number from 1 to {}", kMostBatch));
    }
    job.global_batch = *batch;
    return {};
  }
  describe::fill_batch(job);
  return {};
}

// "lora", "lora:16", "lora:16:qkv+linear_proj".
Result<describe::Lora> read_lora(std::string_view text) {
  describe::Lora lora;
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() > 1) {
    const auto rank = to_integer(parts[1]);
    if (!rank || *rank < 1 || *rank > kMostLoraRank) {
      return invalid(fmt::format("'{}' is not a LoRA rank", printable(parts[1])), "‹workload›",
                     fmt::format("a whole number from 1 to {}", kMostLoraRank));
    }
    lora.rank = *rank;
  }
  if (parts.size() > 2) {
    lora.modules.clear();
    for (const std::string_view word : split(parts[2], '+')) {
      SEXTANT_TRY(const describe::LoraModule module,
                  describe::parse_word<describe::LoraModule>(describe::kLoraModuleWords, word,
                                                             "LoRA module", "‹workload›"));
      lora.modules.push_back(module);
    }
  }
  return lora;
}

}  // namespace

Result<void> read_workload(const std::string& word, Job& job) {
  const std::string_view text =
      word.empty() ? std::string_view("pretrain") : std::string_view(word);
  SEXTANT_TRY(job.workload, describe::parse_word<describe::Workload>(describe::kWorkloadWords,
                                                                     text.substr(0, text.find(':')),
                                                                     "workload", "‹workload›"));
  if (job.workload == describe::Workload::kLora) {
    SEXTANT_TRY(job.lora, read_lora(text));
  } else if (text.find(':') != std::string_view::npos) {
    return invalid(fmt::format("'{}' takes nothing after ':'", printable(text)), "‹workload›",
                   "pretrain, sft, forward, lora[:RANK[:MODULE+...]]");
  }
  return {};
}

explain::Provenance provenance_of(const JobReading& reading) {
  return {std::string(explain::tool_version()), reading.inputs};
}

explain::NotLegal not_legal(const JobReading& reading, std::string_view use_case) {
  return {provenance_of(reading), std::string(use_case), reading.violations};
}

Result<JobReading> read_job(const JobRequest& request, const Context& context) {
  JobReading reading;
  Job& job = reading.job;
  if (request.cluster.empty()) {
    return invalid("the cluster is missing", "‹on›",
                   "COUNTxDEVICE such as 64xh100-sxm, or a cluster.toml");
  }
  SEXTANT_TRY(job.model, describe::load_model(request.model, context.data));
  SEXTANT_TRY(job.cluster, describe::load_cluster(request.cluster, context.data));
  SEXTANT_CHECK_OK(read_framework(request, context, job));
  for (const auto* assumed : {&job.model.assumed, &job.cluster.assumed}) {
    job.assumed.insert(job.assumed.end(), assumed->begin(), assumed->end());
  }
  SEXTANT_CHECK_OK(describe::set_layout(request.layout, job));
  SEXTANT_CHECK_OK(read_sequences(request, job));
  SEXTANT_CHECK_OK(read_batch(request, job));
  SEXTANT_CHECK_OK(read_workload(request.workload, job));
  const std::vector<describe::Violation> broken = describe::broken_rules(job);
  reading.violations = describe::refusals(broken);
  for (const describe::Violation& violation : broken) {
    if (violation.severity == describe::Severity::kRisk) {
      reading.risks.push_back("risk " + explain::violation_text(violation));
    }
  }
  reading.inputs = describe::cluster_inputs(job.cluster, context.data);
  reading.inputs.emplace(reading.inputs.begin(), job.model.config_file, job.model.config_sha256);
  return reading;
}

}  // namespace sextant::app
