// Where this checkout and its program lie, for tests. Defined at configure time.
#pragma once

#include <filesystem>
#include <string>

namespace sextant {

std::filesystem::path source_folder();
// The program built beside the test.
std::string built_program();

// Measured tables, catalogues and profiles beside the checkout. Tests that read them skip where it
// is absent.
inline std::filesystem::path shared_folder() {
  return source_folder().parent_path() / "shared";
}

}  // namespace sextant
