// What recommending costs where layouts of one job were measured: not more than taking what is
// predicted fastest.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "layout_groups.h"
#include "truth_errors.h"

namespace sextant {
namespace {

using tests::GroupRegret;
using tests::truth_dir;

// The mean over sources must not be above 2 %, and not above that of the fastest by half a point.
// The second holds; the first does not yet: what is predicted fastest costs more than that itself.
TEST(RecommendTruth, SimplicityCostsNoTimeWhereLayoutsWereMeasured) {
  if (!std::filesystem::is_directory(truth_dir())) {
    GTEST_SKIP() << "no measured tables beside the sources: nothing read";
  }
  const describe::DataStore data;
  double fastest = 0.0;
  double recommended = 0.0;
  for (const tests::MeasuredTable& table : tests::kGroupTables) {
    const auto source =
        tests::group_source(truth_dir() / "runs" / (std::string(table.name) + ".csv"), data,
                            tests::kFewestGroupRuns, table.every);
    ASSERT_TRUE(source) << to_text(source.error());
    const GroupRegret regret = tests::regret_of(*source, search::kMostGivenUp);
    EXPECT_GT(regret.groups, 0U) << table.name;
    RecordProperty(std::string(table.name) + "_fastest", std::to_string(regret.fastest));
    RecordProperty(std::string(table.name) + "_recommended", std::to_string(regret.recommended));
    fastest += regret.fastest / static_cast<double>(tests::kGroupTables.size());
    recommended += regret.recommended / static_cast<double>(tests::kGroupTables.size());
  }
  EXPECT_LE(recommended, fastest + 0.005);
  EXPECT_LE(recommended, 0.021);
}

}  // namespace
}  // namespace sextant
