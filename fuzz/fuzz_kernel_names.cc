// A user's table of kernel names: a table or an Error, and what it says of any name.
#include <cstdint>
#include <string>

#include "profile/recognition.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto table = sextant::profile::RecognitionTable::parse(
      "pattern,says,value,source\n*nccl*,kind,communication,x\n" + text, "fuzz.csv");
  if (table) {
    (void)table->of("ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
    (void)table->of(text);
  }
  return 0;
}
