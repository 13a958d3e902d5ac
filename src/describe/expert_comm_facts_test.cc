#include "describe/expert_comm_facts.h"

#include <gtest/gtest.h>

#include "describe/data_store.h"

namespace sextant::describe {
namespace {

class ExpertCommFactsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto read = expert_comm_facts(DataStore());
    ASSERT_TRUE(read) << to_text(read.error());
    facts = *read;
  }
  ExpertCommFacts facts;
};

TEST_F(ExpertCommFactsTest, SharesAreSharesAndThePipelineIsNoWorseThanTheBestChunk) {
  for (const double share :
       {facts.dispatch_relay.value, facts.combine_relay.value, facts.scale_up_share.value,
        facts.direct_scale_up_share.value, facts.network_share.value}) {
    EXPECT_GT(share, 0.0);
    EXPECT_LE(share, 1.0);
  }
  EXPECT_GE(facts.fill.value, 0.0);
  EXPECT_LE(facts.fill.value, 2.0);
}

TEST_F(ExpertCommFactsTest, SpreadsAreFactorsAndWhatIsNotDeterminedIsWider) {
  EXPECT_GE(facts.one_domain_spread.value, 1.0);
  EXPECT_GE(facts.network_spread.value, facts.one_domain_spread.value);
  EXPECT_GE(facts.undetermined_spread.value, facts.network_spread.value);
}

TEST_F(ExpertCommFactsTest, GenerationsThatShareKernelsShareConstants) {
  EXPECT_NE(facts.kernels_of("hopper"), nullptr);
  EXPECT_NE(facts.kernels_of("blackwell"), nullptr);
  EXPECT_EQ(facts.kernels_of("blackwell"), facts.kernels_of("blackwell-ultra"));
  EXPECT_EQ(facts.kernels_of("cdna3"), nullptr);
  EXPECT_EQ(facts.kernels_of(""), nullptr);
}

}  // namespace
}  // namespace sextant::describe
