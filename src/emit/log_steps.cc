#include "emit/log_steps.h"

#include <algorithm>

#include "emit/log_text.h"

namespace sextant::emit {
namespace {

constexpr std::string_view kMegatronTime = "elapsed time per iteration (ms):";
constexpr std::string_view kTimerLine = "SamplesPerSec=";

double positive(std::optional<double> number) {
  return number && *number > 0.0 ? *number : 0.0;
}
std::int64_t positive(std::optional<std::int64_t> number) {
  return number && *number > 0 ? *number : 0;
}

double scaled_after(std::string_view line, std::string_view label) {
  const std::optional<std::string_view> rest = text_after(line, label);
  return rest ? positive(scaled_number(*rest)) : 0.0;
}

// The first "<word> N /": the step of "iteration   20/ 100" and "iteration: 20 / 100".
std::int64_t step_of_total(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos;
       at = line.find(word, at + 1)) {
    const auto number = leading_number(line.substr(at + word.size()));
    const auto step = leading_integer(line.substr(at + word.size()));
    if (step && number) {
      const std::size_t next = number->rest.find_first_not_of(' ');
      if (next != std::string_view::npos && number->rest[next] == '/') {
        return std::max<std::int64_t>(*step, -1);
      }
    }
  }
  return -1;
}

StepLine megatron_line(std::string_view line) {
  StepLine step{.kind = LogKind::kMegatron};
  step.step = step_of_total(line, "iteration");
  step.seconds = positive(number_after(line, kMegatronTime)) * 1e-3;
  step.tflops = positive(number_after(line, "throughput per GPU (TFLOP/s/GPU):"));
  if (step.tflops == 0.0) {
    step.tflops = positive(number_after(line, "TFLOPs:"));  // Megatron-DeepSpeed
  }
  step.tokens_per_second = positive(number_after(line, "tokens per gpu per second (tgs):"));
  step.global_batch = positive(integer_after(line, "global batch size:"));
  step.loss = number_after(line, "lm loss:");
  return step;
}

// Megatron-Bridge writes this before the iteration's own line.
StepLine bridge_line(std::string_view line) {
  StepLine step{.kind = LogKind::kMegatron};
  step.seconds = std::max(positive(number_after(line, "Step Time :")),
                          positive(number_after(line, "Step Time:")));
  step.tflops = positive(number_after(line, "GPU utilization:"));
  return step;
}

StepLine torchtitan_line(std::string_view line) {
  StepLine step{.kind = LogKind::kTorchtitan};
  step.step = integer_after(line, "step:").value_or(-1);
  step.tokens_per_second = positive(number_after(line, "tps:"));
  step.tflops = positive(number_after(line, "tflops:"));
  step.loss = number_after(line, "loss:");
  return step;
}

StepLine maxtext_line(std::string_view line) {
  StepLine step{.kind = LogKind::kMaxtext};
  step.step = integer_after(line, "completed step:").value_or(-1);
  step.seconds = positive(number_after(line, "seconds:"));
  step.tflops = positive(number_after(line, "TFLOP/s/device:"));
  step.tokens_per_second = positive(number_after(line, "Tokens/s/device:"));
  step.loss = number_after(line, "loss:");
  return step;
}

// The pipeline engine's line.
StepLine deepspeed_line(std::string_view line) {
  StepLine step{.kind = LogKind::kDeepspeed};
  step.step = integer_after(line, "steps:").value_or(integer_after(line, "step:").value_or(-1));
  step.seconds = positive(number_after(line, "iter time (s):"));
  step.samples_per_second = positive(number_after(line, "samples/sec:"));
  step.loss = number_after(line, "loss:");
  return step;
}

// The throughput timer's line.
StepLine deepspeed_timer(std::string_view line) {
  StepLine step{.kind = LogKind::kDeepspeed};
  step.step = integer_after(line, "global_step=").value_or(-1);
  if (step.step < 0) {
    // Older: "0/20, RunningAvgSamplesPerSec=…".
    const std::size_t end = line.find(", RunningAvg");
    const std::size_t slash = end == std::string_view::npos ? end : line.rfind('/', end);
    if (slash != std::string_view::npos) {
      step.step = leading_integer(line.substr(slash + 1)).value_or(-1);
    }
  }
  step.samples_per_second = positive(number_after(line, "CurrSamplesPerSec="));
  return step;
}

StepLine nanotron_line(std::string_view line) {
  StepLine step{.kind = LogKind::kNanotron};
  step.step = step_of_total(line, "iteration:");
  step.seconds = std::max(scaled_after(line, "time_per_iteration_ms:"),
                          scaled_after(line, "elapsed_time_per_iteration_ms:")) *
                 1e-3;
  step.tokens_per_second = scaled_after(line, "tokens_per_sec_per_gpu:");
  step.tflops = scaled_after(line, "model_tflops_per_gpu:");
  step.loss = number_after(line, "lm_loss:");
  // "1.02K" has lost digits: the settings know better.
  const std::optional<std::string_view> batch = text_after(line, "global_batch_size:");
  const auto number = batch ? leading_number(*batch) : std::nullopt;
  if (number && (number->rest.empty() || number->rest.front() == ' ')) {
    step.global_batch = positive(leading_integer(*batch));
  }
  return step;
}

std::optional<StepLine> iteration_line(std::string_view line) {
  if (has_text(line, kMegatronTime)) {
    return megatron_line(line);
  }
  if (has_text(line, "time_per_iteration_ms:") && has_text(line, "iteration:")) {
    return nanotron_line(line);
  }
  return std::nullopt;
}

std::optional<StepLine> numbered_line(std::string_view line) {
  if (has_text(line, "completed step:") && has_text(line, "seconds:")) {
    return maxtext_line(line);
  }
  if (has_text(line, " tps:") && text_after(line, "step:")) {
    return torchtitan_line(line);
  }
  if (has_text(line, "iter time (s):") &&
      (text_after(line, "steps:") || text_after(line, "step:"))) {
    return deepspeed_line(line);
  }
  return std::nullopt;
}

void keep_larger(std::optional<Bytes>& peak, std::optional<double> bytes) {
  if (bytes && *bytes > 0.0 && (!peak || *peak < Bytes(*bytes))) {
    peak = Bytes(*bytes);
  }
}

// Every number after the label, each times `unit`.
void keep_every(std::optional<Bytes>& peak, std::string_view line, std::string_view label,
                double unit) {
  for (auto rest = text_after(line, label); rest; rest = text_after(*rest, label)) {
    if (const auto number = leading_number(*rest)) {
      keep_larger(peak, number->value * unit);
    }
  }
}

}  // namespace

std::optional<StepLine> step_line(std::string_view line) {
  if (has_text(line, "iteration")) {
    if (std::optional<StepLine> step = iteration_line(line)) {
      return step;
    }
  }
  if (has_text(line, "Step Time") && has_text(line, "TFLOP/s/GPU")) {
    return bridge_line(line);
  }
  if (has_text(line, "step")) {
    if (std::optional<StepLine> step = numbered_line(line)) {
      return step;
    }
  }
  return has_text(line, kTimerLine) ? std::optional(deepspeed_timer(line)) : std::nullopt;
}

MemoryPeaks memory_peaks(std::string_view line) {
  constexpr double kMiB = 1024.0 * 1024.0;
  constexpr double kGiB = 1024.0 * kMiB;
  MemoryPeaks peaks;
  if (has_text(line, "memory (MB)")) {  // Megatron divides by 1024²
    keep_every(peaks.allocated, line, "max allocated:", kMiB);
    keep_every(peaks.reserved, line, "max reserved:", kMiB);
  } else if (has_text(line, "MaxMemAllocated=")) {  // DeepSpeed divides by 1024³
    keep_every(peaks.allocated, line, "MaxMemAllocated=", kGiB);
  } else if (has_text(line, "Peak reserved")) {  // nanotron
    keep_every(peaks.allocated, line, "Peak allocated", kMiB);
    keep_every(peaks.allocated, line, "Peak allocated:", kMiB);
    keep_every(peaks.reserved, line, "Peak reserved:", kMiB);
  } else if (has_text(line, " tps:")) {  // torchtitan prints the most reserved
    const std::optional<std::string_view> rest = text_after(line, "memory:");
    const auto number = rest ? leading_number(*rest) : std::nullopt;
    if (number && number->rest.starts_with("GiB")) {
      keep_larger(peaks.reserved, number->value * kGiB);
    }
  }
  return peaks;
}

}  // namespace sextant::emit
