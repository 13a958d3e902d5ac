#include "agents/job_choice.h"

#include <gtest/gtest.h>

#include "search/recommend.h"

namespace sextant::agents {
namespace {

// A change to another mesh of a job whose step is a second, which stands.
RankedCandidate faster_mesh(std::int64_t tp, double speed) {
  RankedCandidate one;
  describe::Layout layout;
  layout.tp = tp;
  one.candidate.layout = layout;
  one.verdict.ruling = verify::Ruling::kAccepted;
  one.verdict.layout = layout;
  one.verdict.after.emplace().step.step = Seconds(1.0 / speed);
  step::Difference& difference = one.verdict.speed.emplace();
  difference.speed = difference.low = difference.high = speed;
  return one;
}

// The tensor parallelism of what is proposed, in its order.
std::vector<std::int64_t> proposed_of(std::vector<RankedCandidate> candidates) {
  Standing standing;
  standing.is_users = true;
  std::vector<std::int64_t> all;
  for (const RankedCandidate& one :
       chosen(std::move(candidates), standing, /*is_given=*/false).proposed) {
    all.push_back(one.candidate.layout->tp);
  }
  return all;
}

RankedCandidate recommended(RankedCandidate one) {
  one.candidate.is_recommended = true;
  return one;
}

TEST(JobChoice, TheFastestIsFirst) {
  EXPECT_EQ(proposed_of({faster_mesh(2, 1.2), faster_mesh(4, 1.5), faster_mesh(8, 1.3)}),
            (std::vector<std::int64_t>{4, 8, 2}));
}

TEST(JobChoice, WhatThePlannerRecommendsIsBeforeWhatIsFasterByLessThanCanBeTold) {
  EXPECT_EQ(proposed_of({recommended(faster_mesh(2, 1.49)), faster_mesh(4, 1.5)}),
            (std::vector<std::int64_t>{2, 4}));
}

TEST(JobChoice, WhatIsFasterByMoreStaysBeforeIt) {
  const double told = 1.5 / (1.0 + 2.0 * search::kMostGivenUp);
  EXPECT_EQ(proposed_of({recommended(faster_mesh(2, told)), faster_mesh(4, 1.5)}),
            (std::vector<std::int64_t>{4, 2}));
}

TEST(JobChoice, ARecommendedOneThatIsRejectedIsNotProposed) {
  RankedCandidate rejected = recommended(faster_mesh(2, 1.5));
  rejected.verdict.ruling = verify::Ruling::kRejected;
  EXPECT_EQ(proposed_of({rejected, faster_mesh(4, 1.5)}), (std::vector<std::int64_t>{4}));
}

}  // namespace
}  // namespace sextant::agents
