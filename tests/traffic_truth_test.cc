// The messages that PyTorch was seen to issue, case by case: every one predicted, and no other.
#include <filesystem>
#include <map>

#include <gtest/gtest.h>

#include "app/predict_traffic.h"
#include "measured/table.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using app::MessageKind;
using measured::Row;
using measured::StepCollectiveSubject;

std::string to_text(const MessageKind& kind, std::int64_t count) {
  return std::string(kind.functional ? "f." : "c10d.") +
         std::string(
             describe::word_of<describe::CollectiveOp>(describe::kCollectiveOpWords, kind.op)) +
         " of " + std::to_string(kind.group_size) + ", " + std::to_string(kind.part_bytes) +
         " of " + std::to_string(kind.whole_bytes) + " " + kind.dtype + " x" +
         std::to_string(count);
}

struct Case {
  measured::JobPointer job;
  std::map<MessageKind, std::int64_t> seen;
};

std::map<std::string, Case> cases_of(const fs::path& table) {
  std::map<std::string, Case> cases;
  const auto rows = measured::read_table(table, describe::DataStore());
  EXPECT_TRUE(rows) << (rows ? "" : sextant::to_text(rows.error()));
  for (const Row& row : rows ? *rows : std::vector<Row>()) {
    const auto& subject = std::get<StepCollectiveSubject>(row.subject);
    Case& at = cases[subject.name];
    at.job = subject.job;
    at.seen[app::kind_of(subject)] += subject.count;
  }
  return cases;
}

void expect_exact(const fs::path& table) {
  for (const auto& [name, at] : cases_of(table)) {
    std::map<MessageKind, std::int64_t> predicted;
    for (const app::MessageCount& message : app::predicted_messages(*at.job)) {
      predicted[message.kind] += message.count;
    }
    for (const auto& [kind, count] : at.seen) {
      const auto found = predicted.find(kind);
      EXPECT_TRUE(found != predicted.end() && found->second == count)
          << name << ": seen " << to_text(kind, count) << ", predicted "
          << (found == predicted.end() ? 0 : found->second);
    }
    for (const auto& [kind, count] : predicted) {
      EXPECT_TRUE(at.seen.contains(kind)) << name << ": not seen " << to_text(kind, count);
    }
  }
}

TEST(TrafficTruth, EveryMessageOfPyTorchIsPredictedAndNoOther) {
  const fs::path table =
      fs::path(SEXTANT_SOURCE_DIR) / ".." / "shared" / "truth" / "h200" / "pytorch_collectives.csv";
  if (!fs::is_regular_file(table)) {
    GTEST_SKIP() << "no measured tables beside the sources: nothing read";
  }
  EXPECT_GE(cases_of(table).size(), 20U);
  expect_exact(table);
}

// Sizes that do not divide: vocabularies and hidden sizes against 3, 6, 7 and 600 shards, tensor
// parallelism with HSDP, with and without checkpointing.
TEST(TrafficTruth, AwkwardSizesAndCombinationsAreExactToo) {
  const fs::path table =
      fs::path(SEXTANT_SOURCE_DIR) / "tests" / "truth" / "pytorch_collectives_awkward.csv";
  EXPECT_GE(cases_of(table).size(), 16U);
  expect_exact(table);
}

// The validation of those tables: no error at all.
TEST(TrafficTruth, TheValidatedBytesAreExact) {
  const fs::path table =
      fs::path(SEXTANT_SOURCE_DIR) / "tests" / "truth" / "pytorch_collectives_awkward.csv";
  const auto rows = measured::read_table(table, describe::DataStore());
  ASSERT_TRUE(rows);
  for (const Row& row : *rows) {
    const measured::Answer answer = app::predict_step_collective(row);
    const auto* prediction = std::get_if<measured::Prediction>(&answer);
    ASSERT_NE(prediction, nullptr) << row.id;
    EXPECT_EQ(prediction->value, row.measured) << row.id;
  }
}

}  // namespace
}  // namespace sextant
