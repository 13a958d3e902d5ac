// Two ends that bytes go between: a socket, or TLS over one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace sextant::http {

// How long whoever waits is willing to: until a moment, or until somebody says stop.
struct Patience {
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
  const std::atomic<bool>* stop = nullptr;

  [[nodiscard]] bool is_stopped() const {
    return stop != nullptr && stop->load(std::memory_order_relaxed);
  }
};
Patience patience_of(Seconds limit, const std::atomic<bool>* stop);
// The shorter of both.
Patience no_longer_than(const Patience& patience, Seconds limit);

class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream(Stream&&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream& operator=(Stream&&) = delete;
  virtual ~Stream() = default;

  // How many bytes came: 0 where the other end has closed.
  virtual Result<std::size_t> read(std::span<char> into, const Patience& patience) = 0;
  // All of them.
  virtual Result<void> write(std::string_view bytes, const Patience& patience) = 0;
  // Has the other end closed? May be asked while another thread uses the stream.
  [[nodiscard]] virtual bool is_gone() const = 0;
};

}  // namespace sextant::http
