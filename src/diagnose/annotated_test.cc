#include "diagnose/annotated.h"

#include <gtest/gtest.h>

namespace sextant::diagnose {
namespace {

metrics::RankSummary made_rank(std::int64_t rank, std::int64_t base_ns) {
  metrics::StepMeasures step{.number = 4, .host = {0, 0}, .window = {5'000, 9'000}};
  return {.rank = RankId{rank}, .base_ns = base_ns, .steps = {step}};
}

Finding finding_at(std::string rule, std::vector<metrics::Interval> times) {
  Finding finding;
  finding.rule = std::move(rule);
  for (const metrics::Interval& time : times) {
    finding.evidence.push_back({RankId{0}, time, "here"});
  }
  return finding;
}

std::vector<std::string> texts_of(const timeline::Timeline& timeline) {
  std::vector<std::string> texts;
  for (const timeline::Span& span : timeline.spans()) {
    texts.push_back(timeline.lane_of(span).name + " | " + timeline.label_of(span).name + " | " +
                    std::to_string(span.start_ns));
  }
  return texts;
}

TEST(Annotated, EvidenceLiesBesideStepsOnTheProfilesOwnClock) {
  const std::vector ranks{made_rank(0, 1'000)};
  const std::vector findings{finding_at("host-sync", {{6'000, 7'000}})};
  EXPECT_EQ(texts_of(annotated({}, ranks, findings)),
            (std::vector<std::string>{"steps on the device | step 4 | 4000",
                                      "findings | host-sync: here | 5000"}));
}

TEST(Annotated, WhatOverlapsLiesInLanesOfItsOwn) {
  const std::vector ranks{made_rank(0, 0)};
  const std::vector findings{finding_at("a", {{6'000, 8'000}, {8'000, 8'500}}),
                             finding_at("b", {{6'500, 7'000}})};
  EXPECT_EQ(
      texts_of(annotated({}, ranks, findings)),
      (std::vector<std::string>{"steps on the device | step 4 | 5000", "findings | a: here | 6000",
                                "findings | a: here | 8000", "findings 2 | b: here | 6500"}));
}

// Shifted by what each adds they would no longer lie beside one another.
TEST(Annotated, ProfilesThatAddDifferentTimesKeepTheRecordersClock) {
  const std::vector ranks{made_rank(0, 1'000), made_rank(1, 2'000)};
  const timeline::Timeline timeline = annotated({}, ranks, {});
  for (const timeline::Span& span : timeline.spans()) {
    EXPECT_EQ(span.start_ns, 5'000);
  }
}

}  // namespace
}  // namespace sextant::diagnose
