// emit: a job as the framework's own files, or the change to the user's file as a patch.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/answered.h"
#include "app/context.h"
#include "app/job_request.h"
#include "base/result.h"
#include "emit/dialects.h"
#include "emit/files.h"
#include "explain/emit_view.h"

namespace sextant::app {

// Words; "" where not given.
struct EmitRequest {
  JobRequest job;        // with `diff` what it leaves open is the file's
  std::string dialect;   // "": the framework's own, with `diff` the file's
  std::string launcher;  // torchrun, slurm
  std::string folder;    // where files are written; "": printed
  std::string diff;      // the user's file
};

// What the framework has no words for is said in the notes and in the files' comments, never
// dropped. The outcome is no where the job is not legal, and
// where it does not fit: the files are there all the same.
using EmitReply = OrIllegal<explain::EmitAnswer, explain::PatchAnswer>;
Result<Answered<EmitReply>> emit_files(const EmitRequest& request, const Context& context);

// What the framework does not start without and the writing does not say is left out of it, to be
// filled in: iterations, a learning rate, data.
Result<void> add_required(emit::Writing& writing, const Context& context);

// The files below a folder, which is made where it is missing.
std::vector<Artifact> files_artifacts(const std::vector<emit::File>& files,
                                      const std::filesystem::path& folder);
std::vector<std::string> paths_of(const std::vector<Artifact>& artifacts);

}  // namespace sextant::app
