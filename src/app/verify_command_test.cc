#include "app/verify_command.h"

#include <gtest/gtest.h>

#include "app/testing.h"

namespace sextant::app {
namespace {

VerifyRequest request_of(std::string change, std::vector<std::string> claims = {}) {
  VerifyRequest request;
  request.job.job.model = "llama-3.1-70b";
  request.job.job.cluster = "64xh100-sxm";
  request.job.job.layout = "tp=8,pp=4,mbs=1,recompute=full";
  request.job.job.global_batch = "256";
  request.change = std::move(change);
  request.claims = std::move(claims);
  return request;
}

Result<Answered<explain::VerifyAnswer>> verified(const VerifyRequest& request) {
  return verify_proposal(request, megatron_context(), {});
}

TEST(VerifyWords, AClaimIsAQuantityADirectionAndMayBeARatio) {
  const auto claim = claim_of("step  lower x0.7..0.85");
  ASSERT_TRUE(claim) << to_text(claim.error());
  EXPECT_EQ(claim->quantity, step::Quantity::kStep);
  EXPECT_EQ(claim->direction, step::Direction::kLower);
  EXPECT_EQ(claim->ratio, (step::RatioRange{0.7, 0.85}));
  EXPECT_FALSE(claim_of("memory same")->ratio);
  for (const char* wrong :
       {"", "step", "stepp lower", "step down", "step lower 0.7..0.8", "step lower x0.7",
        "step lower x0.8..0.7", "step lower x0..1", "step lower x-1..1", "step lower xnan..1",
        "step lower x0.7..0.8 now"}) {
    EXPECT_FALSE(claim_of(wrong)) << wrong;
  }
}

TEST(VerifyWords, ACitationIsASourceAndMaySayWhatFor) {
  EXPECT_EQ(citation_of("kb:interleave-stages")->id, "interleave-stages");
  EXPECT_EQ(citation_of("rule:KV-HEADS-TP bubble lower")->supports->quantity,
            step::Quantity::kBubble);
  EXPECT_EQ(citation_of("model")->kind, verify::Cited::kModel);
  for (const char* wrong : {"", "kb", "kb:", "web:x", "model:x", "kb:x step"}) {
    EXPECT_FALSE(citation_of(wrong)) << wrong;
  }
}

TEST(Verify, WhatTheModelsBearOutStands) {
  const auto answered = verified(request_of("recompute=none", {"compute lower"}));
  ASSERT_TRUE(answered) << to_text(answered.error());
  const verify::Verdict& verdict = answered->answer.judged.verdict;
  EXPECT_EQ(answered->outcome, verdict.stands() ? Outcome::kFine : Outcome::kNo);
  ASSERT_EQ(verdict.claims.size(), 1U);
  EXPECT_EQ(verdict.claims[0].ruling, verify::ClaimRuling::kHolds);
  EXPECT_LT(verdict.claims[0].ratio, 1.0);
}

TEST(Verify, WhatIsIllegalOrRefutedIsANo) {
  const auto illegal = verified(request_of("tp=7"));
  ASSERT_TRUE(illegal) << to_text(illegal.error());
  EXPECT_EQ(illegal->outcome, Outcome::kNo);
  EXPECT_EQ(illegal->answer.judged.verdict.ruling, verify::Ruling::kRejected);
  const auto refuted = verified(request_of("recompute=none", {"compute higher"}));
  ASSERT_TRUE(refuted) << to_text(refuted.error());
  EXPECT_EQ(refuted->outcome, Outcome::kNo);
}

TEST(Verify, WhereNothingIsClaimedAShorterStepIs) {
  const auto answered = verified(request_of("tp=4"));
  ASSERT_TRUE(answered) << to_text(answered.error());
  const verify::Verdict& verdict = answered->answer.judged.verdict;
  ASSERT_EQ(verdict.claims.size(), 1U);
  EXPECT_EQ(verdict.claims[0].claim, *claim_of("step lower"));
}

TEST(Verify, WithoutAChangeThereIsNothingToJudge) {
  EXPECT_FALSE(verified(request_of("")));
  VerifyRequest request = request_of("tp=4");
  request.devices = "many";
  EXPECT_FALSE(verified(request));
}

TEST(Verify, TheAnswerIsADocumentAndAText) {
  const auto answered = verified(request_of("tp=4", {"step lower"}));
  ASSERT_TRUE(answered);
  const std::string json = to_text(answered->answer, {.format = explain::Format::kJson});
  EXPECT_NE(json.find("\"sextant.verify/1\""), std::string::npos);
  EXPECT_NE(json.find("\"ruling\""), std::string::npos);
  EXPECT_FALSE(to_text(answered->answer, {}).empty());
}

}  // namespace
}  // namespace sextant::app
