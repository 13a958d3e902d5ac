// Instructions retired while a benchmark ran, where the kernel lets us count them: a number that
// repeats when times do not. Elsewhere the counter is left out.
#pragma once

#include <cstdint>

#include <benchmark/benchmark.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sextant::bench {

// Counts from construction to destruction and reports "instructions" an iteration.
class Instructions {
 public:
  explicit Instructions(benchmark::State& state) : state_(state) {
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof(attributes);
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.exclude_kernel = 1;
    file_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
  }
  ~Instructions() {
    std::uint64_t count = 0;
    if (file_ >= 0 && read(file_, &count, sizeof(count)) == sizeof(count)) {
      state_.counters["instructions"] =
          benchmark::Counter(static_cast<double>(count), benchmark::Counter::kAvgIterations);
    }
    if (file_ >= 0) {
      close(file_);
    }
  }
  Instructions(const Instructions&) = delete;
  Instructions& operator=(const Instructions&) = delete;
  Instructions(Instructions&&) = delete;
  Instructions& operator=(Instructions&&) = delete;

 private:
  benchmark::State& state_;
  int file_ = -1;
};

}  // namespace sextant::bench
