// A Job from the words of a command line: what every command that predicts something starts from.
//
// Whatever the user leaves out is filled by a stated rule and listed in Job::assumed, together with
// what the model's configuration, the cluster's reference system and the framework's defaults
// filled in. A job that breaks rules is a value with violations, not an Error.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "describe/layout/job.h"
#include "describe/layout/rules.h"
#include "explain/provenance.h"
#include "explain/violation_view.h"

namespace sextant::app {

struct JobRequest {
  std::string model = {};    // MODEL
  std::string cluster = {};  // CLUSTER
  // LAYOUT: key=value pairs joined by commas. A JAX mesh ("ici:fsdp=64,tensor=4;dcn:data=2") may
  // stand before them, set off by semicolons.
  std::string layout = {};
  std::string framework = {};  // FRAMEWORK; "": the setting's
  // describe::parse_sequences; "": 4096, or the model's most if smaller.
  std::string sequences = {};
  std::string global_batch = {};  // sequences a step; "": describe::fill_batch
  std::string workload = {};      // "": pretrain; "lora[:RANK[:MODULE+…]]"
};

struct JobReading {
  describe::Job job;
  std::vector<describe::Violation> violations;  // empty: legal
  // What the framework changes or what may fail later all the same: "risk SP-TP: …".
  std::vector<std::string> risks;
  // Name of each input and the SHA-256 of its bytes, for explain::Provenance.
  std::vector<std::pair<std::string, std::string>> inputs;
};

Result<JobReading> read_job(const JobRequest& request, const Context& context);

// What an answer about the job begins with.
explain::Provenance provenance_of(const JobReading& reading);

// The answer of a use case to a job that is not legal: its violations.
explain::NotLegal not_legal(const JobReading& reading, std::string_view use_case);

// "lora:16" into the job; "" is pre-training.
Result<void> read_workload(const std::string& word, describe::Job& job);

}  // namespace sextant::app
