// Profiles of any kind held in memory, packed or not: an answer or an Error, in bounded room, and
// spans that a Timeline may have.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "profile/read.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using sextant::profile::RecognitionTable;
  static const RecognitionTable kNames = *RecognitionTable::parse(
      "pattern,says,value,source\n*nccl*,kind,communication,x\n"
      "*-send,kind,communication,x\n*AllReduce*,op,all_reduce,x\n"
      "*bf16*,element,BFloat16,x\n",
      "names.csv");
  const std::string_view held(reinterpret_cast<const char*>(data), size);
  const auto recording = sextant::profile::read_profile_bytes(
      held, "rank1.json", {.names = kNames, .most_bytes = 10'000'000, .most_events = 100'000});
  if (recording) {
    for (const auto& span : recording->timeline.spans()) {
      if (span.duration_ns < 0) {
        std::abort();
      }
      (void)recording->timeline.occurrence_of(span);
      (void)recording->timeline.lane_of(span);
    }
  }
  return 0;
}
