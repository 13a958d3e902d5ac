#include "emit/beside_the_job.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace sextant::emit {
namespace {

// Parts of names of flags and keys.
constexpr std::array<std::string_view, 34> kAsideParts{
    "path",       "dir",        "save",    "load",           "wandb",    "tensorboard", "log",
    "cache",      "master",     "addr",    "port",           "rdzv",     "rank",        "host",
    "vocab_file", "merge_file", "output",  "checkpoint_dir", "exp_name", "run_name",    "name_or",
    "project",    "entity",     "dataset", "data_args",      "seed",     "token",       "url",
    "jobid",      "job_name",   "ip",      "store",          "blend",    "trigger"};
// … that say something of the job all the same.
constexpr std::array<std::string_view, 8> kJobParts{"model_name_or",
                                                    "checkpoint_activations",
                                                    "activation_checkpoint",
                                                    "gradient_checkpoint",
                                                    "dataset.seq",
                                                    "seq_length",
                                                    "overlap",
                                                    "multiple"};
// Variables of the environment that change how a job runs.
constexpr std::array<std::string_view, 6> kJobVariables{
    "CUDA_DEVICE_MAX", "NVTE_", "WORLD_SIZE", "NNODES", "NCCL_GRAPH", "XLA_FLAGS"};

bool is_variable_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

template <typename Parts>
bool holds_one(std::string_view text, const Parts& parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

}  // namespace

bool is_beside_the_job(const Unresolved& unresolved) {
  if (unresolved.any) {
    return false;
  }
  const std::string_view what = unresolved.what;
  const std::size_t end = what.find_first_of(" =:");
  const std::string_view name = what.substr(0, end);
  const bool flag = name.starts_with('-');
  if (!flag && end != std::string_view::npos && what[end] == '=' && unresolved.key.empty() &&
      is_variable_name(name)) {
    return !holds_one(name, kJobVariables);
  }
  std::string key = to_lower(unresolved.key.empty() ? name : std::string_view(unresolved.key));
  std::ranges::replace(key, '-', '_');
  return (flag || !unresolved.key.empty()) && holds_one(key, kAsideParts) &&
         !holds_one(key, kJobParts);
}

}  // namespace sextant::emit
