#include "base/read_fence.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

// A folder of the fence, or a file, held from the beginning: its name may come to mean another.
struct FencedPlace {
  fs::path path;
  Descriptor held;
};

using FencedPlaces = std::vector<FencedPlace>;

std::optional<FencedPlaces>& standing_fence() {
  static std::optional<FencedPlaces> fence;
  return fence;
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto differ = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return differ.first == folder.end();
}

tl::unexpected<Error> lies_outside(const fs::path& path, const FencedPlaces& fence) {
  return invalid("lies outside what may be read here", printable(path.string()),
                 fence.empty() ? "no file" : "files below " + fence.front().path.string());
}

// The path with its links resolved, and the fence's place that it lies in.
struct Fenced {
  fs::path whole;
  const FencedPlace* place = nullptr;
};
Result<Fenced> fenced_path(const fs::path& path, const FencedPlaces& fence) {
  std::error_code error;
  Fenced found{.whole = fs::weakly_canonical(path, error)};
  for (const FencedPlace& place : fence) {
    if (!error && path != "-" && is_below(found.whole, place.path)) {
      found.place = &place;
      return found;
    }
  }
  return lies_outside(path, fence);
}

tl::unexpected<Error> cannot_open(const fs::path& path, int code) {
  const std::error_code reason(code, std::generic_category());
  return not_found("can't be opened: " + reason.message(), path.string());
}

std::string place_of(const Descriptor& opened) {
  return fmt::format("/proc/self/fd/{}", opened.number());
}

// The same thing again, to be read: O_PATH holds a file without reading it.
Descriptor reopened(const Descriptor& held) {
  return Descriptor(::open(place_of(held).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

// From the fence's place on, part by part.
Result<Descriptor> walked(const Fenced& to, const fs::path& path, const FencedPlaces& fence) {
  const fs::path rest = to.whole.lexically_relative(to.place->path);
  if (rest.empty() || rest == ".") {
    Descriptor again = reopened(to.place->held);
    return again.is_open() ? Result<Descriptor>(std::move(again)) : cannot_open(path, errno);
  }
  const std::vector<fs::path> parts(rest.begin(), rest.end());
  Descriptor at;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool is_last = i + 1 == parts.size();
    // A pipe that stands there now must not be waited for.
    const int how = is_last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_PATH | O_DIRECTORY;
    Descriptor next(::openat(i == 0 ? to.place->held.number() : at.number(), parts[i].c_str(),
                             how | O_NOFOLLOW | O_CLOEXEC));
    if (!next.is_open()) {
      // A link where there was none when the path was resolved.
      return errno == ELOOP || errno == ENOTDIR ? lies_outside(path, fence)
                                                : cannot_open(path, errno);
    }
    at = std::move(next);
  }
  return at;
}

}  // namespace

ReadFence::ReadFence(const std::vector<fs::path>& folders) {
  assert(!standing_fence());
  std::vector<FencedPlace> places;
  for (const fs::path& folder : folders) {
    std::error_code error;
    fs::path whole = fs::canonical(folder, error);
    Descriptor held(error ? -1 : ::open(whole.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (held.is_open()) {
      places.push_back({std::move(whole), std::move(held)});
    }
  }
  standing_fence() = std::move(places);
}

ReadFence::~ReadFence() {
  standing_fence().reset();
}

Descriptor::~Descriptor() {
  if (is_open()) {
    ::close(number_);
  }
}

void CloseStream::operator()(std::FILE* file) const {
  if (file != stdin) {
    std::fclose(file);  // NOLINT(cppcoreguidelines-owning-memory): this is the owner
  }
}

Result<void> may_read(const fs::path& path) {
  const std::optional<FencedPlaces>& fence = standing_fence();
  if (!fence) {
    return {};
  }
  SEXTANT_TRY(const Fenced found, fenced_path(path, *fence));
  std::error_code error;
  const fs::file_status status = fs::status(found.whole, error);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    return invalid("is neither a file nor a folder", printable(path.string()), "plain files");
  }
  return {};
}

Result<Descriptor> open_at_fence(const fs::path& path) {
  const std::optional<FencedPlaces>& fence = standing_fence();
  if (!fence) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return file.is_open() ? Result<Descriptor>(std::move(file)) : cannot_open(path, errno);
  }
  SEXTANT_TRY(const Fenced found, fenced_path(path, *fence));
  SEXTANT_TRY(Descriptor file, walked(found, path, *fence));
  struct stat facts{};
  if (::fstat(file.number(), &facts) != 0 || (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode))) {
    return invalid("is neither a file nor a folder", printable(path.string()), "plain files");
  }
  return file;
}

Result<OpenFile> open_file(const fs::path& path) {
  OpenFile opened;
  if (path == "-") {
    SEXTANT_CHECK_OK(may_read(path));
    opened.stream.reset(stdin);
    return opened;
  }
  SEXTANT_TRY(Descriptor file, open_at_fence(path));
  struct stat facts{};
  if (::fstat(file.number(), &facts) == 0) {
    if (S_ISDIR(facts.st_mode)) {
      return invalid("is a directory", path.string(), "a file");
    }
    opened.size = S_ISREG(facts.st_mode) ? facts.st_size : 0;
  }
  opened.stream.reset(::fdopen(file.number(), "rb"));
  if (!opened.stream) {
    return cannot_open(path, errno);
  }
  file.release();
  return opened;
}

Result<std::vector<fs::path>> list_folder(const fs::path& folder, std::size_t most) {
  SEXTANT_TRY(const Descriptor opened, open_at_fence(folder));
  std::error_code error;
  std::vector<fs::path> entries;
  // By its descriptor: the name may mean another folder by now.
  for (fs::directory_iterator at(place_of(opened), error), end; !error && at != end;
       at.increment(error)) {
    if (entries.size() == most) {
      break;
    }
    entries.push_back(folder / at->path().filename());
  }
  if (error) {
    return cannot_open(folder, error.value());
  }
  std::ranges::sort(entries);
  return entries;
}

bool fence_stands() {
  return standing_fence().has_value();
}

}  // namespace sextant
