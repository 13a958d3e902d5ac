// The past optimisations of data/wins: many sources, losses among them, each with its source.
#include "kb/wins.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "base/scratch_folder_testing.h"

namespace sextant::kb {
namespace {

const std::vector<Entry>& wins() {
  static const std::vector<Entry> kWins = [] {
    auto loaded = load_wins(describe::DataStore());
    return loaded ? *loaded : (ADD_FAILURE() << to_text(loaded.error()), std::vector<Entry>());
  }();
  return kWins;
}

TEST(Wins, AreManyOfManySources) {
  EXPECT_GE(wins().size(), 420U);
  std::set<std::string> sources;
  std::set<std::string> changes;
  for (const Entry& win : wins()) {
    sources.insert(win.source);
    // Published somewhere, or a table measured for this project.
    EXPECT_TRUE(win.url.starts_with("https://") || win.url.starts_with("truth/h200/")) << win.id;
    EXPECT_EQ(win.origin, Origin::kBuiltIn);
    EXPECT_NE(win.trust, Trust::kUnknown) << win.id;
    EXPECT_TRUE(is_measured(win)) << win.id;
    ASSERT_EQ(win.about.changes.size(), 1U) << win.id;
    changes.insert(win.about.changes.front());
  }
  EXPECT_EQ(sources.size(), 85U);
  EXPECT_GE(changes.size(), 25U);
}

TEST(Wins, ManyAreLosses) {
  const auto lost = std::count_if(wins().begin(), wins().end(), [](const Entry& win) {
    return win.measured.fate == Fate::kNoLongerFits || win.measured.effect_percent.value_or(0) < 0;
  });
  EXPECT_GE(lost, static_cast<std::ptrdiff_t>(wins().size() / 5));
}

// A step that takes the n-th part, or n times the speed, is n - 1 faster. Within 2 %: some sources
// print the effect and rounded values.
TEST(Wins, EffectsAreThoseOfTheirValues) {
  int compared = 0;
  for (const Entry& win : wins()) {
    const Measurement& measured = win.measured;
    if (!measured.before || !measured.after || !measured.effect_percent ||
        measured.metric == "relative_speed") {
      continue;
    }
    const double before = *measured.before;
    const double after = *measured.after;
    const double effect = measured.metric == "mem_gib"       ? 1.0 - after / before
                          : measured.metric == "step_time_s" ? before / after - 1.0
                                                             : after / before - 1.0;
    EXPECT_NEAR(*measured.effect_percent, 100.0 * effect, std::max(1.0, 2.0 * std::abs(effect)))
        << win.id;
    compared += 1;
  }
  EXPECT_GE(compared, 250);
}

// They are what the knowledge base is judged on later.
TEST(Wins, NameNoneOfThePublishedCases) {
  for (const Entry& win : wins()) {
    for (const std::string_view word : {"ASAP", "PROMPTS", "2511.03844"}) {
      EXPECT_EQ(win.source.find(word), std::string::npos) << win.id;
    }
  }
}

TEST(Wins, ASourceThatNobodyDescribedIsAnError) {
  const ScratchFolder folder;
  static_cast<void>(
      folder.write("wins/new.toml",
                   "[a]\nkind = \"win\"\ntitle = \"t\"\nsource = \"llm-d\"\nbefore = "
                   "\"x\"\nafter = \"y\"\nmetric = \"mfu_pct\"\neffect_percent = 1\n"));
  const auto data = describe::DataStore::with_override(folder.path());
  ASSERT_TRUE(data);
  const auto loaded = load_wins(*data);
  ASSERT_FALSE(loaded);
  EXPECT_NE(to_text(loaded.error()).find("llm-c"), std::string::npos) << to_text(loaded.error());
}

}  // namespace
}  // namespace sextant::kb
