// Compiles as it stands, and must not with EXPECT_COMPILE_ERROR set to the number of any case
// below.
#include "base/units.h"

#include "base/ids.h"

namespace sextant {

Seconds transfer_time(Bytes payload, BytesPerSecond rate) {
  return payload / rate;
}

Seconds legal() {
  return transfer_time(64_MiB, 400_Gbitps);
}

#if EXPECT_COMPILE_ERROR == 1
Seconds wrong() {
  return transfer_time(5_us, 400_Gbitps);
}  // a time is no payload
#elif EXPECT_COMPILE_ERROR == 2
auto wrong() {
  return 1_s + 1_B;
}  // seconds and bytes do not add
#elif EXPECT_COMPILE_ERROR == 3
Seconds wrong() {
  return 64_MiB * 400_GBps;
}  // bytes times a rate is not a time
#elif EXPECT_COMPILE_ERROR == 4
Seconds wrong() {
  return 1.0;
}  // a bare number has no unit
#elif EXPECT_COMPILE_ERROR == 5
bool wrong() {
  return 1_GB < 1_GBps;
}  // a size and a rate do not compare
#elif EXPECT_COMPILE_ERROR == 6
RankId wrong() {
  return NodeId{3};
}  // a node is no rank
#elif EXPECT_COMPILE_ERROR == 7
Dollars wrong() {
  return 700_W * 1_hours;
}  // energy is no money
#endif

}  // namespace sextant
