#include <gtest/gtest.h>

#include "describe/layout/rules.h"
#include "emit/any_job_testing.h"
#include "emit/round_trip_testing.h"

namespace sextant::emit {
namespace {

TEST(AnyJob, IsLegalWhateverIsDrawn) {
  EXPECT_TRUE(rc::check("no core rule is broken", [] {
    const describe::Job job = any_job(describe::Framework::kMegatronCore);
    for (const describe::Violation& violation : describe::check_rules(job)) {
      RC_FAIL(std::string(violation.rule) + ": " + violation.message);
    }
    RC_ASSERT(job.dp() == job.layout.dp);
    RC_ASSERT(job.microbatches() > 0);
  }));
}

TEST(AnyJob, ReadsBackFromItsOwnText) {
  EXPECT_TRUE(rc::check("the text shows every field", [] {
    const describe::Job job = any_job(describe::Framework::kMegatronCore);
    RC_ASSERT(differing_keys(job.layout, job.layout).empty());
    describe::Layout other = job.layout;
    other.mbs += 1;
    other.sp = !other.sp;
    RC_ASSERT(differing_keys(job.layout, other) == (std::vector<std::string>{"mbs", "sp"}));
  }));
}

}  // namespace
}  // namespace sextant::emit
