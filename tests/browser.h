// A page as a browser shows it: headless Chromium, where it is installed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sextant::tests {

// Its file; nothing where it is not installed.
std::optional<std::string> chromium();

struct Window {
  int width = 1280;
  int height = 1600;
  bool dark = false;
};

struct Picture {
  int width = 0;
  int height = 0;
  std::size_t colors = 0;  // that occur
};

struct Seen {
  int exit_code = -1;
  std::string log;                    // all that the browser said
  std::vector<std::string> console;   // lines that the page put on its console, errors among them
  std::vector<std::string> requests;  // addresses beyond the file that the page asked for
  std::optional<Picture> picture;     // nothing: there is none, or it can't be read
};

// Of what the browser itself asks the network for nothing counts, and no name is resolved. With
// SEXTANT_PICTURES set to a folder the picture is kept there as `name`.png.
Seen seen_page(const std::string& html, const Window& window, const std::string& name);

}  // namespace sextant::tests
