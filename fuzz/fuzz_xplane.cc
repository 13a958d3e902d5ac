// XLA's profiles: any bytes end in a Recording in order, or an Error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "profile/xplane.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sextant;  // NOLINT(google-build-using-namespace)
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const profile::XplaneOptions options{
      .kernels =
          [](std::string_view name) {
            return profile::KernelMeaning{.kind = name.starts_with("nccl")
                                                      ? timeline::SpanKind::kCommunication
                                                      : timeline::SpanKind::kCompute};
          },
      .most_spans = 100'000};
  const auto recording = profile::read_xplane(
      [&] { return profile::bytes_of(bytes, std::int64_t{1} << 26U); }, "fuzz.xplane.pb", options);
  if (!recording) {
    return 0;
  }
  if (!recording->timeline.is_sorted()) {
    std::abort();
  }
  for (std::size_t i = 1; i < recording->steps.size(); ++i) {
    const timeline::RecordedStep& before = recording->steps[i - 1];
    const timeline::RecordedStep& step = recording->steps[i];
    if (step.rank == before.rank && step.start_ns < before.end_ns) {
      std::abort();
    }
  }
  return 0;
}
