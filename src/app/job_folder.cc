#include "app/job_folder.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/units.h"

namespace sextant::app {
namespace {

namespace fs = std::filesystem;

constexpr Bytes kMostFollowed = 1_MiB;
constexpr std::size_t kMostParts = 32;

// The path, and of one that leads out of the folder what its ends could be.
std::vector<fs::path> places_of(std::string_view named) {
  const fs::path path = fs::path(named).lexically_normal();
  std::vector<fs::path> parts(path.begin(), path.end());
  const auto ups = static_cast<std::size_t>(
      std::count_if(parts.begin(), parts.end(), [](const fs::path& part) { return part == ".."; }));
  constexpr std::size_t kMostUps = 2;
  if (parts.size() > kMostParts || named.empty()) {
    return {};
  }
  std::vector<fs::path> places;
  if (!path.is_absolute() && ups <= kMostUps) {
    places.push_back(path);
  }
  const std::size_t first = path.is_absolute() ? 1 : ups;
  const std::size_t least = path.is_absolute() ? 2 : 1;
  for (std::size_t i = first; (path.is_absolute() || ups > 0) && i + least <= parts.size(); ++i) {
    fs::path end;
    for (std::size_t j = i; j < parts.size(); ++j) {
      end /= parts[j];
    }
    places.push_back(std::move(end));
  }
  return places;
}

}  // namespace

std::optional<std::string> path_beside(const std::string& script, std::string_view named) {
  std::error_code error;
  for (const fs::path& place : places_of(named)) {
    for (const fs::path& whole : {fs::path(script).parent_path() / place, place}) {
      if (fs::is_regular_file(whole, error)) {
        return whole.lexically_normal().string();
      }
    }
  }
  return std::nullopt;
}

std::optional<emit::ShellInvocation::Found> file_beside(const std::string& script,
                                                        std::string_view named) {
  const auto path = path_beside(script, named);
  if (!path || fs::path(*path).lexically_normal() == fs::path(script).lexically_normal()) {
    return std::nullopt;
  }
  auto text = read_file(*path, kMostFollowed);
  if (!text || !checked_text(*text, kMostFollowed, *path)) {
    return std::nullopt;
  }
  return emit::ShellInvocation::Found{*path, *std::move(text)};
}

const emit::WrittenFile* written_file(const emit::Settings& settings, std::string_view named) {
  const fs::path path = fs::path(named).lexically_normal();
  const auto found = std::find_if(settings.written.begin(), settings.written.end(),
                                  [&](const emit::WrittenFile& file) {
                                    return fs::path(file.name).lexically_normal() == path;
                                  });
  return found == settings.written.end() ? nullptr : &*found;
}

}  // namespace sextant::app
