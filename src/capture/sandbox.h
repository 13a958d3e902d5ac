// Runs a program where nothing it does is kept or leaves: docs/capture.md says exactly what is and
// is not contained. Namespaces of the kernel, as a plain user may have them; where they are not
// allowed nothing runs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "capture/spool.h"

namespace sextant::capture {

struct SandboxLimits {
  int seconds = 60;
  int processes = 400;
  std::int64_t memory_mib = 2'048;  // of all processes together
  std::int64_t scratch_mib = 256;   // everything written
};

struct SandboxRequest {
  std::vector<std::string> command;
  std::string folder;                    // absolute
  std::vector<std::string> environment;  // "NAME=value", all of them
  Answers answers;
  SandboxLimits limits;
  std::string program{};  // the file of the one that stands in for others; "": this program's own
};

enum class SandboxEnd : std::uint8_t { kExited, kTime, kProcesses, kMemory };

struct SandboxResult {
  SandboxEnd end = SandboxEnd::kExited;
  int exit_code = 0;
  std::vector<std::pair<std::string, std::string>> calls;  // id and bytes, as they were made
  bool calls_cut = false;                                  // there were more than are kept
  std::string output;                                      // the last of what it printed
};

// An Error where a sandbox cannot be made here, with what does not allow it.
Result<SandboxResult> run_in_sandbox(SandboxRequest request);

}  // namespace sextant::capture
