#include "kb/entry_says.h"

#include <gtest/gtest.h>

#include "describe/layout/layout_text.h"
#include "kb/library.h"

namespace sextant::kb {
namespace {

TEST(EntrySays, AnExpectationReadsBack) {
  const Expects plain{Quantity::kFits, Direction::kHigher, {}};
  EXPECT_EQ(expectation_text(plain), "fits higher");
  EXPECT_EQ(*parse_expectation("fits higher"), plain);
  const Expects sized{Quantity::kStep, Direction::kLower, RatioRange{0.7, 0.85}};
  EXPECT_EQ(expectation_text(sized), "step lower, x0.7 to x0.85");
  EXPECT_EQ(*parse_expectation("step lower, x0.7 to x0.85"), sized);
  for (const char* text : {"", "step", "faster", "step lower,", "step lower, x0.7", "step lower x",
                           "step lower, x0.9 to x0.7", "step lower, 0.7 to 0.9", "it is better"}) {
    EXPECT_FALSE(parse_expectation(text)) << text;
  }
}

TEST(EntrySays, EveryBuiltInPracticeSaysWhatItExpects) {
  const describe::DataStore data;
  const auto book = load_practices(data);
  ASSERT_TRUE(book);
  for (const Practice& practice : book->practices) {
    const Entry entry = entry_of(practice, book->sources.at(practice.source));
    const auto effect = effect_of(entry);
    ASSERT_TRUE(effect) << practice.id;
    EXPECT_EQ(*effect, practice.expects) << practice.id;
  }
}

TEST(EntrySays, AWinSaysWhatWasMeasured) {
  Entry entry{.kind = EntryKind::kWin};
  EXPECT_FALSE(effect_of(entry));
  entry.measured = {.metric = "step_time_s", .effect_percent = 25.0};
  EXPECT_EQ(effect_of(entry)->quantity, Quantity::kStep);
  EXPECT_EQ(effect_of(entry)->direction, Direction::kLower);
  EXPECT_DOUBLE_EQ(effect_of(entry)->ratio->low, 0.8);  // 25 % faster is 1 / 1.25 of the time
  entry.measured.effect_percent = -20.0;
  EXPECT_EQ(effect_of(entry)->direction, Direction::kHigher);
  entry.measured = {.metric = "mem_gib", .effect_percent = 30.0};
  EXPECT_EQ(effect_of(entry)->quantity, Quantity::kMemory);
  EXPECT_DOUBLE_EQ(effect_of(entry)->ratio->low, 0.7);
  entry.measured = {.fate = Fate::kNoLongerFits};
  EXPECT_EQ(effect_of(entry)->quantity, Quantity::kFits);
  EXPECT_EQ(effect_of(entry)->direction, Direction::kLower);
}

TEST(EntrySays, KeysThatDifferAreNamedAsTheLayoutNamesThem) {
  const Entry entry{.before = "ici:data=2,fsdp=8,tensor=4;mbs=1,recompute=full",
                    .after = "ici:fsdp=64;mbs=1,recompute=none"};
  const std::vector<NamedKey> keys = changed_keys(entry);
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0].key, "dp");
  EXPECT_EQ(keys[0].before, "16");
  EXPECT_EQ(keys[0].after, "64");
  EXPECT_EQ(keys[1].key, "recompute");
  EXPECT_EQ(keys[2].key, "tp");
  EXPECT_EQ(keys[2].before, "4");
  EXPECT_EQ(keys[2].after, "");
}

TEST(EntrySays, EveryLayoutKeyHasAChangeAndEveryThemeItsOwn) {
  for (const describe::LayoutKey& key : describe::layout_keys()) {
    const std::string_view change = change_of_key(key.name);
    EXPECT_NE(std::find(kChangeWords.begin(), kChangeWords.end(), change), kChangeWords.end())
        << key.name;
  }
  for (const auto& [theme, word] : kThemeWords) {
    for (const std::string_view change : changes_of(theme)) {
      EXPECT_NE(std::find(kChangeWords.begin(), kChangeWords.end(), change), kChangeWords.end())
          << change;
    }
  }
  EXPECT_EQ(change_of_key("gbs"), "");
}

}  // namespace
}  // namespace sextant::kb
