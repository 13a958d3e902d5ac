// What the tests of use cases share: the built-in data, a context, and a job to ask about.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/answered.h"
#include "app/job_request.h"
#include "base/file.h"
#include "explain/style.h"

namespace sextant::app {

inline const describe::DataStore& built_in_data() {
  static const describe::DataStore kData;
  return kData;
}

inline Context megatron_context() {
  Context made;
  made.settings["framework"] = {"megatron-core", "default"};
  return made;
}

// What a command line does with an answer: files are written, notes and text are shown.
struct Told {
  std::string text;
  Outcome outcome = Outcome::kFine;
  std::vector<std::string> notes;
};
template <typename Answer>
Result<Told> told(Result<Answered<Answer>> answered,
                  explain::Format format = explain::Format::kTable) {
  SEXTANT_TRY(Reply reply, reply_of(std::move(answered)));
  for (const Artifact& artifact : reply.artifacts) {
    if (artifact.makes_folders) {
      std::filesystem::create_directories(std::filesystem::path(artifact.path).parent_path());
    }
    SEXTANT_CHECK_OK(write_file(artifact.path, artifact.bytes));
    reply.notes.insert(reply.notes.end(), artifact.note.begin(), artifact.note.end());
  }
  return Told{reply.text({format, false}), reply.outcome, std::move(reply.notes)};
}

inline JobRequest llama_request(std::string layout, std::string cluster) {
  return {.model = "llama-3.1-8b",
          .cluster = std::move(cluster),
          .layout = std::move(layout),
          .framework = {},
          .sequences = {},
          .global_batch = {},
          .workload = {}};
}

}  // namespace sextant::app
