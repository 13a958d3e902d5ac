#include "schedule/compile.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace sextant::schedule {
namespace {

constexpr ActionKind kR = ActionKind::kReduceGradient;

TEST(Compiling, RefusesWhatIsNoSchedule) {
  const std::vector<std::pair<std::string, ActionTable>> cases = {
      {"missing", {1, 2, {{{kF, false, 0, 0}, {kB, false, 0, 0}, {kF, false, 0, 1}, {kR}}}}},
      {"twice", {1, 1, {{{kF}, {kB}, {kF}}}}},
      {"weight gradient stands twice", {1, 1, {{{kF}, {kB}, {kW}}}}},
      {"weight gradient is missing", {1, 1, {{{kF}, {kI}}}}},
      {"not after", {1, 1, {{{kB}, {kF}}}}},
      {"not after", {1, 1, {{{kF, true}, {kB}}}}},
      {"not after", {1, 1, {{{kF}}, {{kB}}}}},
      {"outside", {1, 1, {{{kF}, {kB, false, 1, 0}}}}},
      {"outside", {1, 1, {{{kF}, {kB, false, 0, -1}}}}},
      {"third", {1, 2, {{{kF, true}, {kF, true, 0, 1}, {kB}, {kB, false, 0, 1}}}}},
      {"shares a slot with none", {1, 1, {{{kF}, {kB, true}}}}},
      {"0 actions", {1, 1, {}}},
      {"2 actions for 9000000000", {9'000'000'000, 9'000'000'000, {{{kF}, {kB}}}}},
      // Rank 0 wants the backward of microbatch 0 before it runs the forward that rank 1 awaits.
      {"waits for ever",
       {2,
        2,
        {{{kF, false, 0, 0}, {kB, false, 0, 0}, {kF, false, 0, 1}, {kB, false, 0, 1}},
         {{kF, false, 1, 0}, {kF, false, 1, 1}, {kB, false, 1, 0}, {kB, false, 1, 1}}}}}};
  for (const auto& [word, table] : cases) {
    const auto result = compiled(table);
    ASSERT_FALSE(result) << word;
    EXPECT_NE(to_text(result.error()).find(word), std::string::npos) << to_text(result.error());
  }
}

}  // namespace
}  // namespace sextant::schedule
