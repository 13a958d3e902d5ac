// One line of a training log that reports steps or memory, in the words of its framework:
//
//   Megatron-LM      iteration 20/ 100 | … | elapsed time per iteration (ms): 1234.5 | …
//   Megatron-Bridge  the same, and "Step Time : 9.09s GPU utilization: 663.5MODEL_TFLOP/s/GPU"
//   torchtitan       step: 2  loss: …  memory: 51.20GiB(64.7%)  tps: 7,132  tflops: 413.20  mfu: …
//   MaxText          completed step: 7, seconds: 3.214, TFLOP/s/device: 301.2, Tokens/s/device: …
//   DeepSpeed        steps: 10 loss: … iter time (s): 1.234 samples/sec: 51.9
//                    …/global_step=10, RunningAvgSamplesPerSec=…, CurrSamplesPerSec=…,
//                    MemAllocated=…
//   nanotron         iteration: 10 / 100 | … | time_per_iteration_ms: 1.2K | tokens_per_sec: … | …
//
// What stands before (ranks, times, host names) does not matter; fields may come in any order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "describe/words.h"

namespace sextant::emit {

// Whose log it is. Megatron-Bridge prints Megatron-LM's lines.
enum class LogKind { kMegatron, kTorchtitan, kMaxtext, kDeepspeed, kNanotron };
inline constexpr std::size_t kLogKinds = 5;
inline constexpr std::array<describe::Word<LogKind>, kLogKinds> kLogKindWords{
    {{LogKind::kMegatron, "Megatron"},
     {LogKind::kTorchtitan, "torchtitan"},
     {LogKind::kMaxtext, "MaxText"},
     {LogKind::kDeepspeed, "DeepSpeed"},
     {LogKind::kNanotron, "nanotron"}}};

// A reported step. Numbers that are not printed, or are no positive numbers, are absent: 0.
struct StepLine {
  LogKind kind = LogKind::kMegatron;
  std::int64_t step = -1;  // −1: the line does not say which
  double seconds = 0.0;
  double tokens_per_second = 0.0;   // a device
  double samples_per_second = 0.0;  // of the whole job
  double tflops = 0.0;              // a device
  std::int64_t global_batch = 0;    // sequences
  std::optional<double> loss{};

  // Whether it says how fast the step was.
  [[nodiscard]] bool is_timed() const {
    return seconds > 0.0 || tokens_per_second > 0.0 || samples_per_second > 0.0;
  }
};
std::optional<StepLine> step_line(std::string_view line);

// The largest of each that the line reports; several ranks may have written into one line.
struct MemoryPeaks {
  std::optional<Bytes> allocated;
  std::optional<Bytes> reserved;
};
MemoryPeaks memory_peaks(std::string_view line);

}  // namespace sextant::emit
