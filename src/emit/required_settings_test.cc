// What a framework does not start without is in the files that are written, or listed for their
// user to fill in: of every dialect, for random legal jobs.
#include "emit/required_settings.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/text.h"
#include "emit/any_job_testing.h"
#include "emit/round_trip_testing.h"
#include "emit/setting_values.h"

namespace sextant::emit {
namespace {

bool is_of_type(const std::string& value, const std::string& type) {
  return type == "int"      ? to_whole(value).has_value()
         : type == "float"  ? to_double(value).has_value()
         : type == "switch" ? to_flag(value).has_value()
                            : !value.empty();
}

TEST(RequiredSettings, EveryRowHasASourceWithAVersion) {
  std::size_t rows = 0;
  for (const auto& [dialect, word] : kDialectWords) {
    const auto required = required_settings(dialect, built_in_data());
    ASSERT_TRUE(required) << to_text(required.error());
    for (const RequiredSetting& one : *required) {
      EXPECT_NE(one.source.find(", read 20"), std::string::npos) << one.key;
    }
    rows += required->size();
  }
  EXPECT_GT(rows, 25U);
}

TEST(RequiredSettings, AreWrittenOrListedOfEveryDialect) {
  for (const auto& [dialect, word] : kDialectWords) {
    const auto required = required_settings(dialect, built_in_data());
    ASSERT_TRUE(required);
    EXPECT_TRUE(rc::check(std::string(word), [&] {
      const Writing writing = write(dialect, any_job(framework_of(dialect)));
      const auto open = left_to_fill_in(writing.settings, built_in_data());
      RC_ASSERT(open.has_value());
      for (const RequiredSetting& one : *required) {
        const Setting* given = find(writing.settings.given, one.key);
        const bool listed = std::ranges::any_of(
            *open, [&](const Inexpressible& left) { return left.field == one.key; });
        const bool inside = std::ranges::any_of(writing.settings.given, [&](const Setting& each) {
          return each.key.starts_with(one.key + ".");
        });
        const bool instead = std::ranges::any_of(one.instead, [&](const std::string& key) {
          return find(writing.settings.given, key) != nullptr;
        });
        RC_ASSERT(given != nullptr || listed || inside || instead);
        if (given == nullptr || given->values.size() != 1) {
          continue;
        }
        RC_ASSERT(is_of_type(given->values[0], one.type));
        RC_ASSERT(one.choices.empty() ||
                  std::ranges::find(one.choices, given->values[0]) != one.choices.end());
      }
    }));
  }
}

TEST(RequiredSettings, IterationsAndLearningRateAreTheUsers) {
  Settings settings;
  settings.dialect = Dialect::kMegatron;
  settings.given = {{"num_layers", {"2"}, {}},          {"hidden_size", {"8"}, {}},
                    {"num_attention_heads", {"2"}, {}}, {"max_position_embeddings", {"64"}, {}},
                    {"micro_batch_size", {"1"}, {}},    {"train_samples", {"100"}, {}}};
  const auto open = left_to_fill_in(settings, built_in_data());
  ASSERT_TRUE(open);
  ASSERT_EQ(open->size(), 1U);
  EXPECT_EQ(open->front().field, "lr");
}

}  // namespace
}  // namespace sextant::emit
