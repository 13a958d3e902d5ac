#include "describe/data_store.h"

#include <algorithm>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "base/file.h"
#include "describe/embedded_data.h"

namespace sextant::describe {
namespace {

constexpr Bytes kMostData = 4_MiB;

// Relative, without "..": a catalogue word can never name a file outside data/.
bool is_inside(std::string_view path) {
  return !path.empty() && path.front() != '/' && path.find("..") == std::string_view::npos;
}

}  // namespace

Result<DataStore> DataStore::with_override(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return not_found("is not a folder", folder.string(), "a folder laid out like data/");
  }
  DataStore store;
  store.folder_ = folder;
  return store;
}

Result<std::string> DataStore::read(std::string_view path) const {
  if (is_inside(path) && folder_) {
    std::error_code ignored;
    const std::filesystem::path file = *folder_ / path;
    if (std::filesystem::is_regular_file(file, ignored)) {
      return read_text(file, kMostData);
    }
  }
  const auto files = embedded_files();
  const auto found = std::lower_bound(
      files.begin(), files.end(), path,
      [](const EmbeddedFile& file, std::string_view wanted) { return file.path < wanted; });
  if (found == files.end() || found->path != path) {
    return not_found(fmt::format("there is no data file {}", path));
  }
  return std::string(found->text);
}

std::string DataStore::where(std::string_view path) const {
  std::error_code ignored;
  if (is_inside(path) && folder_ && std::filesystem::is_regular_file(*folder_ / path, ignored)) {
    return (*folder_ / path).string();
  }
  return fmt::format("data/{}", path);
}

std::vector<std::string> DataStore::list(std::string_view folder,
                                         std::string_view extension) const {
  const std::string prefix = std::string(folder) + "/";
  const std::string suffix = "." + std::string(extension);
  std::set<std::string> stems;
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.path.starts_with(prefix) && file.path.ends_with(suffix)) {
      stems.emplace(
          file.path.substr(prefix.size(), file.path.size() - prefix.size() - suffix.size()));
    }
  }
  if (folder_) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(*folder_ / folder, ignored)) {
      if (entry.path().extension() == suffix) {
        stems.insert(entry.path().stem().string());
      }
    }
  }
  return {stems.begin(), stems.end()};
}

}  // namespace sextant::describe
