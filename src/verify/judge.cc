#include "verify/judge.h"

namespace sextant::verify {

bool stands_before(const Verdict& one, const Verdict& other) {
  return static_cast<int>(one.ruling) < static_cast<int>(other.ruling);
}

}  // namespace sextant::verify
