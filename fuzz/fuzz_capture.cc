// Records of captured jobs, and what stand-ins leave of a call: bytes that a captured script, or
// whoever sends a record, could have made up.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "capture/batch.h"
#include "capture/spool.h"
#include "emit/capture_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sextant;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto record = emit::read_capture(text, "fuzz.capture.json")) {
    for (std::size_t i = 0; i < record->calls.size(); ++i) {
      const emit::CapturedCall& call = record->calls[i];
      if (call.words.empty() || (call.outer && *call.outer >= i)) {
        std::abort();
      }
    }
  }
  (void)emit::parse_capture(text, "fuzz.capture.json");
  if (const auto call = capture::unspooled(text, "id")) {
    const auto again = capture::unspooled(capture::spooled(*call), "id");
    if (!again || again->words != call->words || again->files != call->files) {
      std::abort();
    }
  }
  (void)capture::host_names(text);
  (void)capture::batch_words(text);
  (void)capture::answers_of(text);
  return 0;
}
