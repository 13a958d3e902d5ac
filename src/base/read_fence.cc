#include "base/read_fence.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/text.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

std::optional<std::vector<fs::path>>& standing_fence() {
  static std::optional<std::vector<fs::path>> fence;
  return fence;
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto differ = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return differ.first == folder.end();
}

}  // namespace

ReadFence::ReadFence(const std::vector<fs::path>& folders) {
  assert(!standing_fence());
  std::vector<fs::path> resolved;
  for (const fs::path& folder : folders) {
    std::error_code error;
    fs::path whole = fs::canonical(folder, error);
    if (!error) {
      resolved.push_back(std::move(whole));
    }
  }
  standing_fence() = std::move(resolved);
}

ReadFence::~ReadFence() {
  standing_fence().reset();
}

Result<void> may_read(const fs::path& path) {
  const std::optional<std::vector<fs::path>>& fence = standing_fence();
  if (!fence) {
    return {};
  }
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(path, error);
  const bool inside =
      !error && path != "-" &&
      std::ranges::any_of(*fence, [&](const fs::path& folder) { return is_below(whole, folder); });
  if (inside) {
    const fs::file_status status = fs::status(whole, error);
    if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
      return invalid("is neither a file nor a folder", printable(path.string()), "plain files");
    }
    return {};
  }
  return invalid("lies outside what may be read here", printable(path.string()),
                 fence->empty() ? "no file" : "files below " + fence->front().string());
}

}  // namespace sextant
