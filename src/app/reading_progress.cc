#include "app/reading_progress.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"

namespace sextant::app {
namespace {

constexpr std::chrono::milliseconds kQuiet{1000};
constexpr std::chrono::milliseconds kBetween{200};

}  // namespace

ReadingProgress::ReadingProgress(std::vector<std::int64_t> bytes,
                                 std::function<void(const std::string&)> show)
    : sizes_(std::move(bytes)),
      taken_(sizes_.size(), 0),
      show_(std::move(show)),
      next_(Clock::now() + kQuiet) {
  for (const std::int64_t size : sizes_) {
    size_ += size;
  }
}

void ReadingProgress::taken(std::size_t file, std::int64_t bytes) {
  if (!show_) {
    return;
  }
  const std::lock_guard lock(mutex_);
  sum_ += bytes - taken_[file];
  taken_[file] = bytes;
  say();
}

void ReadingProgress::done(std::size_t file) {
  if (!show_) {
    return;
  }
  const std::lock_guard lock(mutex_);
  ++done_;
  sum_ += std::max(sizes_[file], taken_[file]) - taken_[file];
  taken_[file] = std::max(sizes_[file], taken_[file]);
  say();
}

void ReadingProgress::say() {
  const Clock::time_point now = Clock::now();
  if (now < next_) {
    return;
  }
  next_ = now + kBetween;
  show_(progress_line(done_, sizes_.size(), sum_, size_));
}

std::string progress_line(std::size_t done, std::size_t files, std::int64_t taken,
                          std::int64_t size) {
  const auto text = [](std::int64_t bytes) { return to_text(static_cast<double>(bytes) * 1_B); };
  std::string line = "reading: ";
  if (files > 1) {
    line += fmt::format("{} of {} files, ", done, files);
  }
  if (size <= 0 || taken > size) {
    return line + text(taken);
  }
  return line + fmt::format("{} of {} ({:.0f} %)", text(taken), text(size),
                            100.0 * static_cast<double>(taken) / static_cast<double>(size));
}

}  // namespace sextant::app
