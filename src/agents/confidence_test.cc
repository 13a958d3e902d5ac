// Confidence is what was measured, of a kind that was; nothing else has one.
#include "agents/confidence.h"

#include <gtest/gtest.h>

namespace sextant::agents {
namespace {

verify::Verdict verdict_of(double speed, double low, const std::string& spread_class) {
  verify::Verdict verdict;
  verdict.speed = step::Difference{
      .speed = speed, .low = low, .high = 2.0 * speed, .spread_class = spread_class, .outside = {}};
  return verdict;
}

TEST(Confidence, WhatHasNoSpeedOrIsSlowerHasNoKind) {
  EXPECT_EQ(confidence_kind({}), "");
  EXPECT_EQ(confidence_kind(verdict_of(1.0, 0.9, "mesh")), "");
  EXPECT_EQ(confidence_kind(verdict_of(0.8, 0.7, "mesh")), "");
}

TEST(Confidence, KindsTellTheIntervalAndWhatChanges) {
  EXPECT_EQ(confidence_kind(verdict_of(1.2, 1.1, "micro-batch")), "beyond-setting");
  EXPECT_EQ(confidence_kind(verdict_of(1.2, 0.9, "recompute")), "within-setting");
  EXPECT_EQ(confidence_kind(verdict_of(1.2, 1.1, "mesh")), "beyond-mesh");
  EXPECT_EQ(confidence_kind(verdict_of(1.2, 0.9, "several-changes")), "within-mesh");
}

constexpr std::string_view kFile = R"([beyond-mesh]
proposed = 10
faster = { value = "0.75 ratio", kind = "measured", source = "here" }
[within-mesh]
proposed = 9
faster = { value = "0.5 ratio", kind = "measured", source = "here" }
)";

TEST(Confidence, IsSaidWhereTheKindWasMeasuredOftenEnough) {
  const auto book = ConfidenceBook::parse(kFile, "x.toml");
  ASSERT_TRUE(book) << to_text(book.error());
  EXPECT_EQ(book->of(verdict_of(1.2, 1.1, "mesh")), 0.75);
  EXPECT_EQ(book->of(verdict_of(1.2, 0.9, "mesh")), std::nullopt);  // nine
  EXPECT_EQ(book->of(verdict_of(1.2, 1.1, "overlap")), std::nullopt);
  EXPECT_EQ(book->of({}), std::nullopt);
}

TEST(Confidence, AFileThatIsNoneIsRefusedWithItsPlace) {
  for (const char* text :
       {"[x]\nproposed = 10",
        "[x]\nproposed = -1\nfaster = { value = \"1 ratio\", kind = "
        "\"measured\", source = \"s\" }",
        "[x]\nproposed = 10\nfaster = { value = \"1.5 ratio\", kind = \"measured\", source = "
        "\"s\" }",
        "[x]\nproposed = 10\nfaster = 0.5", "[x]\nslower = 1"}) {
    const auto book = ConfidenceBook::parse(text, "x.toml");
    ASSERT_FALSE(book) << text;
    EXPECT_NE(to_text(book.error()).find("x.toml:"), std::string::npos) << to_text(book.error());
  }
}

// Nobody is certain, and what is beyond the interval is surer than what is not.
TEST(Confidence, TheMeasuredOneIsOfFourKinds) {
  const auto book = ConfidenceBook::load(describe::DataStore());
  ASSERT_TRUE(book) << to_text(book.error());
  EXPECT_EQ(book->kinds().size(), 4U);
  for (const auto& [kind, measured] : book->kinds()) {
    EXPECT_GT(measured.share, 0.0) << kind;
    EXPECT_LT(measured.share, 1.0) << kind;
  }
  EXPECT_GT(book->kinds().at("beyond-mesh").share, book->kinds().at("within-mesh").share);
  EXPECT_GT(book->kinds().at("beyond-setting").share, book->kinds().at("within-setting").share);
}

}  // namespace
}  // namespace sextant::agents
