// Where files may be read: everywhere, or, while a fence stands, below its folders only. For a
// program that answers somebody else's requests on a user's machine. Whatever opens a foreign file
// or looks into a folder asks here; the user's own state (settings, the knowledge base) and what
// was read before the fence do not.
//
// One fence a process, put up before the first thread and taken down after the last.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>
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
// neither a file nor a folder: "-", a pipe. Says nothing of whether there is such a file. It is an
// early answer: what opens a file does so by open_file, open_at_fence or list_folder below.
Result<void> may_read(const std::filesystem::path& path);

// A descriptor that is closed with it.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

// The file or folder, open to be read. While a fence stands, its way is walked from the fence's
// folder part by part, each part opened in the one before and none of them a link: whatever is
// turned meanwhile, what is opened lies below. Without one, as open(2) does it.
Result<Descriptor> open_at_fence(const std::filesystem::path& path);

struct CloseStream {
  void operator()(std::FILE* file) const;
};
struct OpenFile {
  std::unique_ptr<std::FILE, CloseStream> stream;
  std::int64_t size = 0;  // of a plain file; 0 of what does not say
};
// A file as a stream; "-" is standard input. A folder is an Error.
Result<OpenFile> open_file(const std::filesystem::path& path);

// What lies in a folder, at most `most` of it, sorted by name.
Result<std::vector<std::filesystem::path>> list_folder(const std::filesystem::path& folder,
                                                       std::size_t most);

// For what must be opened by somebody else's code, by its name.
bool fence_stands();

}  // namespace sextant
