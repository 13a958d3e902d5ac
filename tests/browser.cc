#include "browser.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <png.h>

#include "run_program.h"

namespace sextant::tests {
namespace {

using nlohmann::json;

std::optional<Picture> picture_of(const std::filesystem::path& file) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&image, file.c_str()) == 0) {
    return std::nullopt;
  }
  image.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr) == 0) {
    return std::nullopt;
  }
  std::set<std::array<std::uint8_t, 3>> colors;
  for (std::size_t i = 0; i + 2 < pixels.size(); i += 3) {
    colors.insert({pixels[i], pixels[i + 1], pixels[i + 2]});
  }
  return Picture{static_cast<int>(image.width), static_cast<int>(image.height), colors.size()};
}

std::vector<std::string> console_lines(const std::string& log) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = std::min(log.find('\n', at), log.size());
    if (const std::string line = log.substr(at, end - at); line.find(":CONSOLE") != line.npos) {
      lines.push_back(line);
    }
    at = end + 1;
  }
  return lines;
}

// Requests name who made them: a page its origin ("null" of a file), the browser "not an origin".
std::vector<std::string> page_requests(const std::string& net_log) {
  std::vector<std::string> requests;
  const json log = json::parse(net_log, nullptr, false);
  if (log.is_discarded() || !log.contains("events")) {
    return {"the browser's log of requests can't be read"};
  }
  for (const json& event : log["events"]) {
    const json params = event.value("params", json::object());
    const std::string url = params.value("url", std::string());
    const std::string by = params.value("initiator", std::string("not an origin"));
    const bool is_beyond = !url.starts_with("file:") && !url.starts_with("data:");
    if (!url.empty() && by != "not an origin" && is_beyond) {
      requests.push_back(url);
    }
  }
  return requests;
}

}  // namespace

std::optional<std::string> chromium() {
  for (const char* path : {"/usr/bin/chromium", "/usr/local/bin/chromium"}) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) {
      return path;
    }
  }
  return std::nullopt;
}

Seen seen_page(const std::string& html, const Window& window, const std::string& name) {
  const Folder folder;
  const std::string page = folder.write("page.html", html);
  const std::string base = folder.path().string();
  std::vector<std::string> arguments{
      // A browser that hangs is ended: the test then fails instead.
      "--kill-after=5",
      "120",
      chromium().value_or(""),
      "--headless=new",
      "--no-sandbox",  // root has none
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--hide-scrollbars",
      "--no-first-run",
      "--no-default-browser-check",
      "--disable-extensions",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--host-resolver-rules=MAP * ~NOTFOUND",
      "--enable-logging=stderr",
      "--user-data-dir=" + base + "/profile",
      "--log-net-log=" + base + "/net.json",
      "--screenshot=" + base + "/page.png",
      fmt::format("--window-size={},{}", window.width, window.height)};
  if (window.dark) {
    arguments.emplace_back("--blink-settings=preferredColorScheme=0");
  }
  arguments.push_back("file://" + page);
  const Ran ran =
      run_other("/usr/bin/timeout", arguments,
                {"HOME=" + base, "TMPDIR=" + base, "PATH=/usr/bin:/bin", "LANG=C.UTF-8"});
  const std::filesystem::path picture = folder.path() / "page.png";
  if (const char* kept = std::getenv("SEXTANT_PICTURES")) {  // NOLINT(concurrency-mt-unsafe)
    std::error_code ignored;
    std::filesystem::copy_file(picture, std::filesystem::path(kept) / (name + ".png"),
                               std::filesystem::copy_options::overwrite_existing, ignored);
  }
  return {.exit_code = ran.exit_code,
          .log = ran.err,
          .console = console_lines(ran.err),
          .requests = page_requests(content(folder.path() / "net.json")),
          .picture = picture_of(picture)};
}

}  // namespace sextant::tests
