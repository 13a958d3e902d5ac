// Which files are meant by the words that name profiles: files, patterns, folders.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace sextant::app {

struct TraceFile {
  std::filesystem::path path;
  std::optional<RankId> rank = std::nullopt;  // as who asked says; else the file must
};

struct TraceFiles {
  std::vector<TraceFile> files;    // in order of the words, of a pattern or folder by name
  std::vector<std::string> notes;  // what was chosen where a folder holds more
};

// A word is a file, "-" (standard input), a pattern (*, ?, [a-z] within a part of a path, ** for
// any folders), or a folder: its profiles; else those of the last run in plugins/profile, as
// TensorBoard lays them out; else those of the folders in it, four deep. RANK= before a file says
// its rank. A summary beside the profile of its name is left out where a folder is read. No file
// counts twice. An Error where a word names nothing.
Result<TraceFiles> trace_files(std::span<const std::string> words);

// Whether it is called as a summary is: "rank3.sxs".
bool is_summary_name(const std::filesystem::path& path);
// The name without the ending of a profile: "logs/rank3.pt.trace.json.gz" → "logs/rank3".
std::string without_profile_ending(const std::filesystem::path& path);

}  // namespace sextant::app
