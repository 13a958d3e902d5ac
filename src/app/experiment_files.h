// A folder of an experiment, or single files: which of them describe the job, and which were
// recorded of it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace sextant::app {

struct ExperimentFiles {
  std::vector<std::string> job;     // scripts, configuration files, logs
  std::vector<std::string> traces;  // words of trace_files
  std::string model = {};           // a Hugging Face config.json; "": none
  std::vector<std::string> notes = {};
};

// Words that are not one folder are files of the job. Of a folder: the files in it, by name, and
// profiles in it or below. An Error where the folder holds neither.
Result<ExperimentFiles> experiment_files(const std::vector<std::string>& words);

}  // namespace sextant::app
