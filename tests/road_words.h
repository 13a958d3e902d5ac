// A published run in the words of a command line: files that say its model and its machine, its
// layout as text, its framework's own files, a log of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/job_files.h"
#include "app/job_request.h"
#include "base/scratch_folder_testing.h"
#include "describe/layout/job.h"
#include "emit/dialects.h"

namespace sextant::tests {

// MODEL: the catalogue's name, or the path of a Hugging Face config.json that is read back to the
// same model. Nothing where no family of Hugging Face's is built like it.
std::optional<std::string> model_word(const describe::Model& model, const ScratchFolder& folder,
                                      const describe::DataStore& data);

// CLUSTER: a cluster.toml with every number of the cluster.
std::string cluster_word(const describe::Cluster& cluster, const ScratchFolder& folder);

// LAYOUT, with the attention kernel where the run states it.
std::string layout_word(const describe::Job& job);

// "lora", "sft"; "" for pre-training.
std::string workload_word(const describe::Job& job);

// The framework's own dialect, of two (Megatron, torchtitan) the one that leaves less out; nothing
// where no files are written for the framework.
std::optional<emit::Writing> own_writing(const describe::Job& job);

// The configuration file and the launch script; their paths.
std::vector<std::string> own_files(const emit::Writing& writing, const describe::Job& job,
                                   const ScratchFolder& folder);

// A log of that framework with iterations of so many seconds; its path.
std::string own_log(const describe::Job& job, double seconds, const ScratchFolder& folder);

}  // namespace sextant::tests
