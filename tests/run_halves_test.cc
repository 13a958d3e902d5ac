// Constants of the step model fitted on half of the systems hold on the other half: what is fitted
// is of training, not of the rows.
#include "calibrate/run_halves.h"

#include <filesystem>
#include <iterator>

#include <gtest/gtest.h>

#include "calibrate/run_samples.h"
#include "calibrate/step_fit.h"
#include "measured/run_targets.h"
#include "measured/table.h"
#include "truth_errors.h"

namespace sextant {
namespace {

TEST(RunHalves, SystemsLeftOutAreNearThoseFitted) {
  if (!std::filesystem::is_directory(tests::truth_dir())) {
    GTEST_SKIP() << "no measured tables beside the sources: nothing read";
  }
  const describe::DataStore data;
  std::vector<measured::Row> rows;
  // Small tables of many systems: with the sanitizers a fit takes its time.
  for (const char* source :
       {"bloom", "mlperf_pretrain", "nemo", "internevo", "torchtitan", "vtrain_multi"}) {
    auto more =
        measured::read_table(tests::truth_dir() / "runs" / (std::string(source) + ".csv"), data);
    ASSERT_TRUE(more) << to_text(more.error());
    rows.insert(rows.end(), std::make_move_iterator(more->begin()),
                std::make_move_iterator(more->end()));
  }
  const auto halves = calibrate::run_halves(rows, data);
  ASSERT_TRUE(halves) << to_text(halves.error());
  ASSERT_EQ(halves->size(), 2U);
  for (const calibrate::RunHalf& half : *halves) {
    EXPECT_GT(half.systems, 3);
    EXPECT_GT(half.fitted, 0.0);
    EXPECT_LE(half.left_out, half.fitted * measured::kRunHalvesLimit);
    EXPECT_GE(half.left_out, half.fitted) << "a fit is best where it was made";
  }
  // Each half was fitted by itself: other rows, other constants.
  EXPECT_NE((*halves)[0].constants, (*halves)[1].constants);
}

}  // namespace
}  // namespace sextant
