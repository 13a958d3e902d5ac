// A piece of a source's bytes that moves on and grows when something does not fit.
#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/byte_source.h"
#include "profile/json_skim.h"

namespace sextant::profile {

class TraceWindow {
 public:
  using Progress = std::function<void(std::int64_t, std::int64_t)>;
  // Small enough for a processor's second cache: bytes are copied in and read while they are there.
  static constexpr std::size_t kUsual = std::size_t{1} << 18U;

  TraceWindow(ByteSource& source, const Progress& progress)
      : source_(source), progress_(progress), bytes_(kUsual + kSkimPadding) {}

  [[nodiscard]] const char* at() const { return bytes_.data() + at_; }
  [[nodiscard]] const char* end() const { return bytes_.data() + end_; }
  [[nodiscard]] std::size_t size() const { return end_ - at_; }
  // Bytes passed before the window's place.
  [[nodiscard]] std::int64_t passed() const { return passed_ + static_cast<std::int64_t>(at_); }
  [[nodiscard]] std::int64_t taken() const { return passed_ + static_cast<std::int64_t>(end_); }
  // REQUIRES: a place in [at(), end()].
  void move_to(const char* place) { at_ = static_cast<std::size_t>(place - bytes_.data()); }

  // More behind what is there; false at the end of the source. Slices become invalid.
  Result<bool> more() {
    if (at_ > 0) {
      std::memmove(bytes_.data(), bytes_.data() + at_, end_ - at_);
      passed_ += static_cast<std::int64_t>(at_);
      end_ -= at_;
      at_ = 0;
    }
    const std::size_t room = bytes_.size() - kSkimPadding;
    if (end_ > room / 2) {
      bytes_.resize(2 * room + kSkimPadding);
    }
    SEXTANT_TRY(const std::size_t got,
                source_.read(std::span(bytes_).subspan(end_, bytes_.size() - kSkimPadding - end_)));
    end_ += got;
    if (progress_) {
      progress_(source_.consumed(), source_.size());
    }
    return got > 0;
  }

 private:
  ByteSource& source_;
  const Progress& progress_;
  std::vector<char> bytes_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::int64_t passed_ = 0;
};

}  // namespace sextant::profile
