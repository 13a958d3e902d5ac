// How far the reading of files is, as a line for a person.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace sextant::app {

// Says nothing in the first second, then a line a few times a second at most. May be told from
// several threads.
class ReadingProgress {
 public:
  // `bytes` of each file: 0 where it is not known.
  ReadingProgress(std::vector<std::int64_t> bytes, std::function<void(const std::string&)> show);

  void taken(std::size_t file, std::int64_t bytes);
  void done(std::size_t file);

 private:
  using Clock = std::chrono::steady_clock;
  void say();

  std::mutex mutex_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::int64_t> taken_;
  std::int64_t size_ = 0;
  std::int64_t sum_ = 0;
  std::size_t done_ = 0;
  std::function<void(const std::string&)> show_;
  Clock::time_point next_;
};

// "reading: 3 of 64 files, 1.2 of 4.5 GiB (27 %)".
std::string progress_line(std::size_t done, std::size_t files, std::int64_t taken,
                          std::int64_t size);

}  // namespace sextant::app
