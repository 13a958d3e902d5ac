// What a job's own script did when it was run with stand-ins (src/capture/): the commands it
// started, word for word, and the configuration files these name. A file that every use case takes
// like a launch script; nobody has to read shell any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "emit/files.h"
#include "emit/settings.h"

namespace sextant::emit {

inline constexpr std::string_view kCaptureSchema = "sextant.job/1";
inline constexpr std::size_t kMostCaptureCalls = 4'096;
inline constexpr std::size_t kMostCaptureWords = 100'000;  // of all calls together

// One command that met a stand-in.
struct CapturedCall {
  std::vector<std::string> words;
  // Words that come out otherwise when an answer that nobody gave ("how many devices are there?")
  // is another one: what they say is not known.
  std::vector<std::size_t> open;
  std::string folder;  // where it was started
  // The variables that the script set, and those that launchers and frameworks read. No secret.
  std::vector<std::pair<std::string, std::string>> environment;
  // The launcher it was started under ("srun …"), an earlier call.
  std::optional<std::size_t> outer;
  bool launches = false;  // its words are a launcher's alone; what it launched is a call of its own
};

struct CapturedFile {
  std::string path;
  std::string text;
};

struct CaptureRecord {
  std::vector<std::string> command;  // "bash", "train.sh", …
  std::string folder;
  std::string cluster;             // what the devices' tools answered ("64xh100-sxm"); "": nothing
  std::vector<std::string> batch;  // the words of #SBATCH lines
  std::vector<CapturedCall> calls;
  std::vector<CapturedFile> files;
  std::vector<std::string> notes;  // what was left out, cut off, or asked in vain
};

// The text is hostile: at most describe::kMostJson, and an Error with the line where it is no
// record, or one of another version.
Result<CaptureRecord> read_capture(std::string_view text, std::string_view name);

// The record's training command as settings, and the files it names. An Error where it starts no
// training.
struct CaptureReading {
  Settings settings;
  std::vector<File> files;
};
Result<CaptureReading> parse_capture(std::string_view text, std::string_view name);

// The captured file that a command names, as it names it; nothing where there is none.
const File* captured_file(const std::vector<File>& files, std::string_view named);

}  // namespace sextant::emit
