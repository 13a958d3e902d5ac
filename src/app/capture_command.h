// capture: a job's own script, run with stand-ins, as a file that every use case takes.
//
// It runs what its caller names, so it is for a person at a command line alone: no use case, and no
// protocol offers it.
#pragma once

#include <string>
#include <vector>

#include "app/answered.h"
#include "app/context.h"
#include "base/result.h"
#include "explain/capture_view.h"

namespace sextant::app {

struct CaptureWords {
  std::vector<std::string> command;  // "bash", "train.sh", …
  std::string file;                  // of the record
  std::string cluster;               // what tools that ask for devices are told; "": nothing
  std::string seconds;               // after which the script is ended; "": 60
  std::string folder;                // where it is started, absolute
  std::vector<std::string> environment;
};

// What would happen, before it does: lines for a person. An Error where the words are wrong.
Result<std::vector<std::string>> capture_notice(const CaptureWords& words, const Context& context);

// The record is an artifact. The outcome is no where the script started nothing.
Result<Answered<explain::CaptureAnswer>> capture(const CaptureWords& words, const Context& context);

// The program called by another's name, inside a capture: nothing else of it runs then.
bool is_stand_in_call(const std::string& program);
int stand_in_call(const std::vector<std::string>& words);

}  // namespace sextant::app
