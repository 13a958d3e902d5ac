// A training log: any bytes end in a reading or an Error, and what is measured can be used.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "emit/log_reading.h"

namespace {

template <typename Quantity>
bool is_usable(const std::optional<Quantity>& quantity) {
  return !quantity || (std::isfinite(quantity->base()) && quantity->base() >= 0.0);
}
bool is_number(const std::optional<double>& number) {
  return !number || std::isfinite(*number);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  sextant::emit::looks_like_log(text);
  const auto log = sextant::emit::parse_log(text, "fuzz.log");
  if (!log) {
    return 0;
  }
  for (const auto& setting : log->settings.given) {
    if (setting.key.empty() || setting.values.empty()) {
      std::abort();
    }
  }
  if (log->measured) {
    const sextant::emit::MeasuredRun& run = *log->measured;
    if (run.counted < 1 || run.left_out < 0 || !is_usable(run.step) || !is_usable(run.spread) ||
        !is_usable(run.max_allocated) || !is_usable(run.max_reserved) ||
        !is_number(run.tflops_per_device) || !is_number(run.tokens_per_second_per_device) ||
        !is_number(run.loss) || (run.step && run.step->base() <= 0.0)) {
      std::abort();
    }
  }
  return 0;
}
