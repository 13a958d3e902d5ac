// The files of data/ as they were when the program was built (cmake/embed_data.cmake writes the
// table).
#pragma once

#include <span>
#include <string_view>

namespace sextant::describe {

struct EmbeddedFile {
  std::string_view path;  // "devices/h100-sxm.toml"
  std::string_view text;
};

// Sorted by path.
std::span<const EmbeddedFile> embedded_files();

}  // namespace sextant::describe
