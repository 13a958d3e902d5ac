// A job's own script, run with stand-ins for everything that would train, leave the machine or ask
// about devices: what it would have started, exactly, whatever it does with branches, functions and
// sourced files.
//
// It runs twice. An answer that nobody gave (how many devices?) is given in two ways: words that
// come out otherwise, for that reason or another ($RANDOM), are not known, all others do not depend
// on it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "capture/sandbox.h"
#include "capture/spool.h"
#include "emit/capture_file.h"

namespace sextant::capture {

struct CaptureRequest {
  std::vector<std::string> command;      // "bash", "train.sh", …
  std::string folder;                    // absolute
  std::vector<std::string> environment;  // "NAME=value", all that the script is started with
  std::string cluster;                   // what the answers are of, as it was said; "": nothing
  Answers answers;
  SandboxLimits limits;
};

// What would run beyond the stand-ins: programs that the script's text names, as far as it can be
// read, in their order; empty where it cannot.
struct WouldRun {
  std::vector<std::string> own;        // the machine's programs, in the sandbox
  std::vector<std::string> stand_ins;  // programs that are stood in for
};
WouldRun would_run(const CaptureRequest& request);

struct CaptureRun {
  emit::CaptureRecord record;
  SandboxEnd end = SandboxEnd::kExited;
  int ended_with = 0;
  std::string output;  // the last of what the script printed; no secret
};

// An Error where nothing can be run here, or the command cannot be started. The record may be
// empty.
Result<CaptureRun> capture_job(const CaptureRequest& request);

// `first`'s calls, with the words open that are not `second`'s. What cannot be laid side by side is
// open from there on.
void open_what_differs(emit::CaptureRecord& first, const emit::CaptureRecord& second);

}  // namespace sextant::capture
