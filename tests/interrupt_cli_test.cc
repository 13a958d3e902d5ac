// Ctrl-C: the program ends with 130, and a search says what it found so far.
#include <gtest/gtest.h>

#include "base/places_testing.h"
#include "run_program.h"

namespace sextant::tests {
namespace {

std::string llama() {
  return content(source_folder() / "data/models/llama-3.1-8b.json");
}

TEST(Interrupt, EndsTheProgramWith130) {
  const Ran ran = interrupted_sextant({"model", "pipe.json"}, llama());
  EXPECT_EQ(ran.exit_code, 130) << ran.err;
  EXPECT_EQ(ran.out, "");
}

TEST(Interrupt, ASearchSaysWhatItFoundSoFar) {
  const Ran ran =
      interrupted_sextant({"plan", "pipe.json", "--on", "16xh100-sxm", "--gbs", "64"}, llama());
  EXPECT_EQ(ran.exit_code, 130) << ran.err;
  EXPECT_NE(ran.out.find("stopped before the end: the best so far"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace sextant::tests
