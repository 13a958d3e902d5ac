// Where files may be read: everywhere, or, while a fence stands, below its folders only. For a
// program that answers somebody else's requests on a user's machine. Whatever opens a foreign file
// or looks into a folder asks here; the user's own state (settings, the knowledge base) and what
// was read before the fence do not.
//
// One fence a process, put up before the first thread and taken down after the last.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"

namespace sextant {

class ReadFence {
 public:
  // REQUIRES: no other fence stands. Folders are taken with symbolic links resolved; one that is
  // not there holds nothing.
  explicit ReadFence(const std::vector<std::filesystem::path>& folders);
  ~ReadFence();
  ReadFence(const ReadFence&) = delete;
  ReadFence& operator=(const ReadFence&) = delete;
  ReadFence(ReadFence&&) = delete;
  ReadFence& operator=(ReadFence&&) = delete;
};

// An Error where a fence stands and the path, with symbolic links resolved, lies outside it, or is
// neither a file nor a folder: "-", a pipe. Says nothing of whether there is such a file. A link
// that is turned between this question and the opening is not seen.
Result<void> may_read(const std::filesystem::path& path);

}  // namespace sextant
