// The practices of data/practices: what they must be, and what the model says of them.
#include "kb/practice.h"

#include <cstdlib>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/places_testing.h"
#include "kb/practice_check.h"
#include "kb/practice_page.h"

namespace sextant::kb {
namespace {

const PracticeBook& book() {
  static const PracticeBook kBook = [] {
    auto loaded = load_practices(describe::DataStore());
    return loaded ? *loaded : (ADD_FAILURE() << to_text(loaded.error()), PracticeBook());
  }();
  return kBook;
}

const std::vector<Agreement>& agreements() {
  static const std::vector<Agreement> kChecked = [] {
    auto all = check_all(book(), describe::DataStore());
    return all ? *all : (ADD_FAILURE() << to_text(all.error()), std::vector<Agreement>());
  }();
  return kChecked;
}

template <typename Holds>
std::size_t count(Holds holds) {
  return static_cast<std::size_t>(
      std::count_if(book().practices.begin(), book().practices.end(), holds));
}

// Is it about meshes of JAX on TPUs?
bool on_tpu_mesh(const Practice& practice) {
  const bool tpu = std::any_of(practice.applies.devices.begin(), practice.applies.devices.end(),
                               [](const std::string& one) { return one.starts_with("tpu"); });
  const auto& frameworks = practice.applies.frameworks;
  return tpu && std::find(frameworks.begin(), frameworks.end(), describe::Framework::kMaxtext) !=
                    frameworks.end();
}

TEST(Practices, AreManyAndMostAreCheckable) {
  EXPECT_GE(book().practices.size(), 150U);
  EXPECT_GE(count([](const Practice& one) { return one.checkable(); }), 100U);
  EXPECT_GE(count(on_tpu_mesh), 40U);
  EXPECT_GE(count([](const Practice& one) { return one.do_not; }), 20U);
}

TEST(Practices, ComeFromManySourcesAndNoneHasMoreThanAShare) {
  std::map<std::string, std::size_t> uses;
  for (const Practice& practice : book().practices) {
    uses[practice.source] += 1;
  }
  EXPECT_GE(uses.size(), 30U);
  for (const auto& [source, times] : uses) {
    EXPECT_LE(static_cast<double>(times), 0.15 * static_cast<double>(book().practices.size()))
        << source;
  }
}

// They are what practices are judged on later.
TEST(Practices, NameNoneOfThePublishedCases) {
  for (const auto& [id, source] : book().sources) {
    for (const std::string_view word : {"ASAP", "PROMPTS", "2511.03844"}) {
      EXPECT_EQ(source.title.find(word), std::string::npos) << id;
      EXPECT_EQ(source.url.find(word), std::string::npos) << id;
    }
  }
}

TEST(Practices, EveryCheckableOneIsCheckedAndDisagreementsAreKnown) {
  ASSERT_EQ(agreements().size(), book().practices.size());
  std::size_t disagreeing = 0;
  for (std::size_t i = 0; i < agreements().size(); ++i) {
    const Practice& practice = book().practices[i];
    const Agreement& agreement = agreements()[i];
    const auto expected = !practice.checkable() ? Outcome::kNotApplicable
                          : practice.verdict    ? Outcome::kDisagrees
                                                : Outcome::kAgrees;
    disagreeing += practice.verdict ? 1 : 0;
    EXPECT_EQ(describe::word_of<Outcome>(kOutcomeWords, agreement.outcome),
              describe::word_of<Outcome>(kOutcomeWords, expected))
        << practice.where << " " << practice.id << ": " << agreement.why;
  }
  const double checkable =
      static_cast<double>(count([](const Practice& one) { return one.checkable(); }));
  EXPECT_LE(static_cast<double>(disagreeing), 0.10 * checkable);
}

// With SEXTANT_UPDATE_PAGES set in the environment the page is written instead.
TEST(Practices, ThePageIsTheBook) {
  ASSERT_EQ(agreements().size(), book().practices.size());
  const std::filesystem::path page = source_folder() / "docs" / "practices.md";
  if (std::getenv("SEXTANT_UPDATE_PAGES") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    std::ofstream(page) << practices_page(book(), agreements());
  }
  const auto text = read_text(page, 1_MiB);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, practices_page(book(), agreements()));
}

}  // namespace
}  // namespace sextant::kb
