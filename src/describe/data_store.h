// The project's data/ folder as the program sees it: embedded at build time, overridable by a
// folder.
//
// A file in the override folder replaces the embedded file of the same path, or adds one. Paths are
// relative and use '/': "devices/h100-sxm.toml".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sextant::describe {

class DataStore {
 public:
  // The embedded data alone.
  DataStore() = default;
  // The embedded data under the files of `folder`. An Error if it is not a readable folder.
  static Result<DataStore> with_override(const std::filesystem::path& folder);

  // The text of a file; NotFound if there is none.
  [[nodiscard]] Result<std::string> read(std::string_view path) const;
  // What to call the file in messages: "data/devices/x.toml (built in)" or the override's path.
  [[nodiscard]] std::string where(std::string_view path) const;
  // Stems of the files "folder/*.extension", sorted: list("devices", "toml").
  [[nodiscard]] std::vector<std::string> list(std::string_view folder,
                                              std::string_view extension) const;
  [[nodiscard]] const std::optional<std::filesystem::path>& override_folder() const {
    return folder_;
  }

 private:
  std::optional<std::filesystem::path> folder_;
};

}  // namespace sextant::describe
