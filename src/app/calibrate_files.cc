#include "app/calibrate_files.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/file.h"

namespace sextant::app {

Result<void> write_with_folder(const std::string& file, const std::string& text) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code failed;
  if (!folder.empty() && !std::filesystem::create_directories(folder, failed) && failed) {
    return external(fmt::format("can't be made: {}", failed.message()), folder.string());
  }
  return write_file(file, text);
}

}  // namespace sextant::app
