// Runs the built program as a user would, and keeps what it said.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/scratch_folder_testing.h"

namespace sextant::tests {

struct Ran {
  int exit_code = -1;  // 128 + signal if it was killed
  std::string out;
  std::string err;
  double cpu_seconds = 0.0;
  long peak_kib = 0;  // largest resident set
};

// Without a shell; `variables` ("NAME=value") are all of its environment; standard input is
// `input`.
Ran run_sextant(const std::vector<std::string>& arguments, const std::string& input = {},
                const std::vector<std::string>& variables = {});

// Any other program, in the same way. `program` is the path of its file.
Ran run_other(const std::string& program, const std::vector<std::string>& arguments,
              const std::vector<std::string>& variables = {});

// As run_sextant, and Ctrl-C while it waits for the file `pipe.json` of its folder, which one of
// the arguments names; after that the pipe holds `input` (at most 64 KiB).
Ran interrupted_sextant(const std::vector<std::string>& arguments, const std::string& input);

// All of a file; nothing where it can't be read.
std::string content(const std::filesystem::path& file);

using Folder = ScratchFolder;

}  // namespace sextant::tests
