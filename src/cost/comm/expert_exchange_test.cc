#include "cost/comm/expert_exchange.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "describe/data_store.h"

namespace sextant::cost {
namespace {

const ExpertModel& hopper_experts() {
  static const ExpertModel kModel = [] {
    const auto facts = describe::expert_comm_facts(describe::DataStore());
    return expert_model(*facts, *facts->kernels_of("hopper"));
  }();
  return kModel;
}

// DeepSeek-V3's layer: 4096 tokens a rank to 8 of 256 experts.
ExpertExchange v3(std::int64_t domains, ExpertMode mode = ExpertMode::kNormal) {
  return {.ranks = 8 * domains,
          .domains = domains,
          .tokens = 4096,
          .topk = 8,
          .experts = 256,
          .token = fp8_token(7168),
          .sms = 24,
          .scale_up = 450_GBps,
          .network = 50_GBps,
          .mode = mode};
}

ExpertExchange any_call() {
  ExpertExchange call = v3(*rc::gen::inRange<std::int64_t>(1, 33));
  call.ranks = call.domains * *rc::gen::inRange<std::int64_t>(1, 9);
  call.tokens = *rc::gen::inRange<std::int64_t>(0, 100000);
  call.experts = *rc::gen::inRange<std::int64_t>(1, 1024);
  call.topk = *rc::gen::inRange<std::int64_t>(1, std::min<std::int64_t>(call.experts, 16) + 1);
  call.topk_domains = *rc::gen::inRange<std::int64_t>(0, 9);
  call.sms = *rc::gen::inRange<std::int64_t>(1, 64);
  call.efa = *rc::gen::arbitrary<bool>();
  call.op = *rc::gen::element(ExpertOp::kDispatch, ExpertOp::kCombine);
  call.mode = *rc::gen::element(ExpertMode::kNormal, ExpertMode::kLowLatency);
  call.library = *rc::gen::element(ExpertLibrary::kDeepEp, ExpertLibrary::kDeepEpRelease,
                                   ExpertLibrary::kDeepEpV2, ExpertLibrary::kUcclEp);
  return call;
}

TEST(ExpertReach, OneExpertLiesOnOneRankOfOneDomain) {
  ExpertExchange call = v3(4);
  call.topk = 1;
  EXPECT_NEAR(expert_reach(call).ranks, 1.0, 1e-12);
  EXPECT_NEAR(expert_reach(call).domains, 1.0, 1e-12);
}

TEST(ExpertReach, AllExpertsLieOnAllRanks) {
  ExpertExchange call = v3(4);
  call.topk = call.experts;
  EXPECT_DOUBLE_EQ(expert_reach(call).ranks, 32.0);
  EXPECT_DOUBLE_EQ(expert_reach(call).domains, 4.0);
}

TEST(ExpertReach, TwoOfFourExpertsOnTwoDomains) {
  // Of the 6 pairs of 4 experts, 2 lie in one domain: 1·2/6 + 2·4/6 = 5/3.
  ExpertExchange call = v3(2);
  call.ranks = 2;
  call.experts = 4;
  call.topk = 2;
  EXPECT_NEAR(expert_reach(call).domains, 5.0 / 3.0, 1e-12);
}

TEST(ExpertReach, DeepSeekV3OnEightRanks) {
  // 8·(1 − C(224,8)/C(256,8)).
  EXPECT_NEAR(expert_reach(v3(1)).ranks, 5.30, 0.01);
}

TEST(ExpertReach, ALimitOfDomainsKeepsTokensWithinThem) {
  ExpertExchange call = v3(8);
  call.topk_domains = 4;
  EXPECT_LT(expert_reach(call).domains, 4.0);
  EXPECT_GT(expert_reach(v3(8)).domains, 5.0);
  call.topk_domains = 1;
  EXPECT_NEAR(expert_reach(call).domains, 1.0, 1e-12);
}

TEST(ExpertTime, OneRankIsFree) {
  for (const ExpertMode mode : {ExpertMode::kNormal, ExpertMode::kLowLatency}) {
    ExpertExchange call = v3(1, mode);
    call.ranks = 1;
    EXPECT_EQ(expert_time(call, hopper_experts()).total(), 0_s);
    EXPECT_EQ(expert_time(call, hopper_experts()).limit, ExpertLimit::kNothing);
  }
}

TEST(ExpertTime, NoTokensCostTheLatency) {
  ExpertExchange call = v3(1);
  call.tokens = 0;
  const ExpertTime time = expert_time(call, hopper_experts());
  EXPECT_EQ(time.total(), time.latency);
  EXPECT_GT(time.latency, 0_s);
}

TEST(ExpertTime, BytesFollowFromTheReach) {
  const ExpertTime time = expert_time(v3(2), hopper_experts());
  const ExpertReach reach = expert_reach(v3(2));
  const Bytes tokens = fp8_token(7168) * 4096.0;
  EXPECT_NEAR(time.network_bytes / tokens, reach.domains / 2.0, 1e-12);
  EXPECT_NEAR(time.scale_up_bytes / tokens, reach.ranks * 7.0 / 8.0, 1e-12);
}

TEST(ExpertTime, DirectMessagesGoToEveryExpert) {
  const ExpertTime time = expert_time(v3(4, ExpertMode::kLowLatency), hopper_experts());
  const Bytes messages = fp8_token(7168) * (4096.0 * 8.0);
  EXPECT_NEAR(time.network_bytes / messages, 0.75, 1e-12);
  EXPECT_NEAR(time.scale_up_bytes / messages, 0.25 * 7.0 / 8.0, 1e-12);
  EXPECT_EQ(time.fill, 0_s);
}

TEST(ExpertTime, FewSmsBindInOneDomainAndTheNetworkBetweenDomains) {
  ExpertExchange call = v3(1);
  call.sms = 4;
  EXPECT_EQ(expert_time(call, hopper_experts()).limit, ExpertLimit::kCopies);
  call.sms = 100;
  EXPECT_EQ(expert_time(call, hopper_experts()).limit, ExpertLimit::kScaleUp);
  EXPECT_EQ(expert_time(v3(4), hopper_experts()).limit, ExpertLimit::kNetwork);
}

RC_GTEST_PROP(ExpertTime, TermsAddUpAndTheTransferIsTheLongest, ()) {
  const ExpertTime time = expert_time(any_call(), hopper_experts());
  RC_ASSERT(time.total() == time.latency + time.transfer + time.fill);
  RC_ASSERT(time.transfer == std::max({time.copies, time.scale_up, time.network}));
  RC_ASSERT(std::isfinite(time.total().base()));
}

RC_GTEST_PROP(ExpertTime, MoreTokensAreNeverFaster, ()) {
  const ExpertExchange call = any_call();
  ExpertExchange more = call;
  more.tokens += *rc::gen::inRange<std::int64_t>(0, 1000);
  RC_ASSERT(expert_time(more, hopper_experts()).total() >=
            expert_time(call, hopper_experts()).total());
}

RC_GTEST_PROP(ExpertTime, FasterLinksAndMoreSmsAreNeverSlower, ()) {
  const ExpertExchange call = any_call();
  ExpertExchange faster = call;
  faster.scale_up *= 1.0 + 0.1 * *rc::gen::inRange(0, 20);
  faster.network *= 1.0 + 0.1 * *rc::gen::inRange(0, 20);
  faster.sms += *rc::gen::inRange<std::int64_t>(0, 20);
  RC_ASSERT(expert_time(faster, hopper_experts()).total() <=
            expert_time(call, hopper_experts()).total());
}

RC_GTEST_PROP(ExpertReach, LiesBetweenOneAndAllAndRanksAreNoFewerThanDomains, ()) {
  const ExpertExchange call = any_call();
  const ExpertReach reach = expert_reach(call);
  constexpr double kRounding = 1e-9;
  RC_ASSERT(reach.domains <= static_cast<double>(call.domains) + kRounding);
  RC_ASSERT(reach.ranks <= static_cast<double>(call.ranks) + kRounding);
  RC_ASSERT(reach.ranks >= reach.domains - kRounding);
  RC_ASSERT(reach.ranks <= static_cast<double>(call.topk) + kRounding);
}

// DeepSeek-AI DeepEP, docs/legacy.md: 16 to 256 ranks, 128 tokens, low-latency dispatch.
TEST(ExpertTime, TheReleasesLowLatencyTable) {
  const std::array<std::pair<std::int64_t, double>, 4> points{
      {{2, 118.0}, {4, 155.0}, {8, 173.0}, {32, 194.0}}};
  for (const auto& [domains, microseconds] : points) {
    ExpertExchange call = v3(domains, ExpertMode::kLowLatency);
    call.library = ExpertLibrary::kDeepEpRelease;
    call.tokens = 128;
    call.scale_up = 200_GBps;
    EXPECT_NEAR(expert_time(call, hopper_experts()).total() / 1_us / microseconds, 1.0, 0.07)
        << domains;
  }
}

}  // namespace
}  // namespace sextant::cost
