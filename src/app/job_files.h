// A job from the files users have: launch scripts, configuration files, recipes, logs. What they
// leave open is said, and never guessed: a job is predicted only where everything was stated.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/context.h"
#include "app/job_request.h"
#include "base/result.h"
#include "describe/layout/job.h"
#include "describe/layout/rules.h"
#include "emit/dialects.h"
#include "emit/files.h"
#include "emit/log_measured.h"
#include "machine/machine.h"

namespace sextant::app {

// Words; "" where not given. They stand over what the files say.
struct FileRequest {
  std::vector<std::string> files;
  std::string model;
  std::string cluster;  // as elsewhere, or a device alone ("h100-sxm") for as many as the files say
  std::string sequences;
  std::string global_batch;
  std::string vocabulary{};  // entries, over what the files say
  std::string workload;      // "": pre-training, which files write; as JobRequest's
  std::string layout{};      // LAYOUT keys, which stand over what the files say
  // How scripts are started: "dsw 7B 1 8", split at blanks, and NAME=VALUE each. Nothing: not said.
  std::optional<std::string> arguments{};
  std::vector<std::string> variables{};
  std::string_view model_parameter = "model";  // what the caller calls `model`
  std::vector<emit::File> texts{};             // files as they would be, instead of those on disk
};

struct Given {
  emit::File file;
  emit::FileKind kind = emit::FileKind::kShell;
};

struct FileJob {
  std::vector<Given> files;          // those given, and configuration files that scripts name
  std::vector<emit::File> captured;  // those that a captured job's record holds
  emit::Settings settings;           // of all of them together
  emit::Reading reading;
  std::optional<emit::MeasuredRun> measured;  // of a log
  // Nothing where the model is not known. Else legal values stand in for sequence, batch and
  // devices that are not stated, so that the other rules can be asked; `open` lists them.
  std::optional<describe::Job> job;
  std::vector<std::string> open;  // "the sequence length is not stated: ‹seq› LENGTH"
  bool device_stated = false;
  std::vector<describe::Violation> violations;
  machine::InputFiles inputs;

  // Everything was stated: the job can be predicted.
  [[nodiscard]] bool whole() const { return job && open.empty() && device_stated; }
};

// An Error where a file cannot be read or is of no known kind.
Result<FileJob> read_files(const FileRequest& request, const Context& context);

}  // namespace sextant::app
