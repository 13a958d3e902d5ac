#include "front/cli/artifacts.h"

#include <filesystem>
#include <system_error>

#include "base/file.h"

namespace sextant::front {
namespace {

Result<void> make_folders(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return external("can't be made: " + error.message(), folder.string());
  }
  return {};
}

Result<void> write(const app::Artifact& artifact) {
  const std::filesystem::path path(artifact.path);
  if (artifact.makes_folders && !path.parent_path().empty()) {
    SEXTANT_CHECK_OK(make_folders(path.parent_path()));
  }
  SEXTANT_CHECK_OK(artifact.pour ? write_pieces(path, artifact.pour)
                                 : write_file(path, artifact.bytes));
  if (artifact.executable) {
    std::error_code ignored;  // a file that one must say `sh` before is still the file
    std::filesystem::permissions(path, std::filesystem::perms::owner_exec,
                                 std::filesystem::perm_options::add, ignored);
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> write_artifacts(std::span<const app::Artifact> artifacts) {
  std::vector<std::string> notes;
  for (const app::Artifact& artifact : artifacts) {
    SEXTANT_CHECK_OK(write(artifact));
    notes.insert(notes.end(), artifact.note.begin(), artifact.note.end());
  }
  return notes;
}

}  // namespace sextant::front
