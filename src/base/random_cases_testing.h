// How many random cases a test tries: the usual number, and ten times as many in `./test long`, for
// tests with loops of their own. Property tests of rapidcheck get the same by RC_PARAMS
// (scripts/run_tests.py). Only tests include this.
#pragma once

#include <cstdlib>

namespace sextant {

inline unsigned random_cases(unsigned usual) {
  const bool all =
      std::getenv("SEXTANT_LONG") != nullptr;  // NOLINT(concurrency-mt-unsafe): one thread
  return all ? 10 * usual : usual;
}

}  // namespace sextant
