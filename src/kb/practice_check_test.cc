// How a practice is judged: direction, size, what stands in the way.
#include "kb/practice_check.h"

#include <gtest/gtest.h>

namespace sextant::kb {
namespace {

Practice practice_of(Expects expects, PracticeJob job) {
  Practice practice;
  practice.id = "one";
  practice.expects = expects;
  job.name = "job1";
  practice.check = JobsCheck{{std::move(job)}};
  return practice;
}

PracticeJob small_job(std::string before, std::string after) {
  PracticeJob job;
  job.model = "llama-3.2-1b";
  job.cluster = job.cluster_after = "8xh100-sxm";
  job.sequences = job.sequences_after = "2048";
  job.global_batch = job.global_batch_after = 16;
  job.framework = describe::Framework::kMegatronCore;
  job.before = std::move(before);
  job.after = std::move(after);
  return job;
}

Agreement checked(const Practice& practice) {
  auto agreement = check(practice, describe::DataStore());
  return agreement ? *agreement : (ADD_FAILURE() << to_text(agreement.error()), Agreement());
}

constexpr std::string_view kPlain = "zero=1,mbs=1";
constexpr std::string_view kRecomputed = "zero=1,mbs=1,recompute=full";

TEST(PracticeCheck, TheClaimTurnedRoundDisagreesWhereTheClaimAgrees) {
  const PracticeJob job = small_job(std::string(kPlain), std::string(kRecomputed));
  const Expects longer{Quantity::kStep, Direction::kHigher, {}};
  const Expects shorter{Quantity::kStep, Direction::kLower, {}};
  EXPECT_EQ(checked(practice_of(longer, job)).outcome, Outcome::kAgrees);
  EXPECT_EQ(checked(practice_of(shorter, job)).outcome, Outcome::kDisagrees);
}

TEST(PracticeCheck, TermsOfEachSideAddUpToItsStep) {
  const PracticeJob job = small_job(std::string(kPlain), std::string(kRecomputed));
  const Agreement agreement =
      checked(practice_of({Quantity::kCompute, Direction::kHigher, {}}, job));
  ASSERT_EQ(agreement.jobs.size(), 1U);
  for (const Sight* sight : {&agreement.jobs[0].before, &agreement.jobs[0].after}) {
    Seconds sum;
    for (const step::StepTerm& term : sight->terms) {
      sum += term.time;
    }
    EXPECT_NEAR(sum / sight->step, 1.0, 1e-9);
  }
  EXPECT_EQ(agreement.jobs[0].seen, Direction::kHigher);
}

TEST(PracticeCheck, ASizeOutsideTheSourcesRangeDisagrees) {
  const PracticeJob job = small_job(std::string(kPlain), std::string(kRecomputed));
  const Expects about_a_third{Quantity::kCompute, Direction::kHigher, RatioRange{1.1, 1.5}};
  const Expects threefold{Quantity::kCompute, Direction::kHigher, RatioRange{2.5, 3.5}};
  EXPECT_EQ(checked(practice_of(about_a_third, job)).outcome, Outcome::kAgrees);
  EXPECT_EQ(checked(practice_of(threefold, job)).outcome, Outcome::kDisagrees);
}

TEST(PracticeCheck, NoChangeIsTheSame) {
  const PracticeJob job = small_job(std::string(kPlain), std::string(kPlain));
  const Agreement same = checked(practice_of({Quantity::kStep, Direction::kSame, {}}, job));
  EXPECT_EQ(same.outcome, Outcome::kAgrees);
  EXPECT_EQ(same.jobs[0].ratio, 1.0);
  EXPECT_EQ(checked(practice_of({Quantity::kStep, Direction::kLower, {}}, job)).outcome,
            Outcome::kDisagrees);
}

TEST(PracticeCheck, WhatIsNotLegalOrDoesNotFitIsNotApplicable) {
  const Agreement illegal = checked(practice_of({Quantity::kStep, Direction::kLower, {}},
                                                small_job(std::string(kPlain), "tp=3,mbs=1")));
  EXPECT_EQ(illegal.outcome, Outcome::kNotApplicable);
  EXPECT_NE(illegal.why.find("after: "), std::string::npos) << illegal.why;
  PracticeJob large = small_job("zero=0,mbs=1", "zero=3,mbs=1");
  large.model = "llama-3-70b";
  large.framework = describe::Framework::kTorchtitan;
  const Agreement too_large = checked(practice_of({Quantity::kStep, Direction::kLower, {}}, large));
  EXPECT_EQ(too_large.outcome, Outcome::kNotApplicable);
  EXPECT_NE(too_large.why.find("does not fit"), std::string::npos) << too_large.why;
}

TEST(PracticeCheck, ABatchThatGrowsIsJudgedByTheToken) {
  PracticeJob job = small_job(std::string(kPlain), std::string(kPlain));
  job.global_batch_after = 32;
  EXPECT_EQ(checked(practice_of({Quantity::kStep, Direction::kHigher, {}}, job)).outcome,
            Outcome::kAgrees);
  EXPECT_EQ(checked(practice_of({Quantity::kTokenTime, Direction::kLower, {}}, job)).outcome,
            Outcome::kAgrees);
}

TEST(PracticeCheck, ARuleIsBrokenBeforeAndHeldAfter) {
  Practice practice = practice_of({Quantity::kStep, Direction::kLower, {}}, {});
  PracticeJob job = small_job("tp=3,mbs=1", "tp=4,mbs=1");
  job.cluster = job.cluster_after = "12xh100-sxm";
  job.global_batch = job.global_batch_after = 12;
  practice.check = RuleCheck{"HEADS-TP", {job}};
  EXPECT_EQ(checked(practice).outcome, Outcome::kAgrees);
  std::swap(job.before, job.after);
  practice.check = RuleCheck{"HEADS-TP", {job}};
  EXPECT_EQ(checked(practice).outcome, Outcome::kDisagrees);
}

TEST(PracticeCheck, AModelThatNobodyKnowsIsAnErrorOfTheJobsPlace) {
  PracticeJob job = small_job(std::string(kPlain), std::string(kPlain));
  job.model = "llama-9";
  job.where = "data/practices/x.toml:7:1";
  const auto agreement =
      check(practice_of({Quantity::kStep, Direction::kLower, {}}, job), describe::DataStore());
  ASSERT_FALSE(agreement);
  EXPECT_EQ(agreement.error().where, "data/practices/x.toml:7:1");
  EXPECT_NE(agreement.error().what.find("llama-9"), std::string::npos);
}

}  // namespace
}  // namespace sextant::kb
