// The writers and the rules agree: a job that is legal is written in settings that are.
#include "emit/setting_rules.h"

#include <ostream>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "describe/layout/framework_rules.h"
#include "emit/accelerate.h"
#include "emit/any_job_testing.h"
#include "emit/bridge.h"
#include "emit/deepspeed.h"
#include "emit/maxtext.h"
#include "emit/megatron.h"
#include "emit/nanotron.h"
#include "emit/torchtitan.h"

namespace sextant::emit {
namespace {

using describe::Framework;

struct Writer {
  const char* name;
  Framework framework;
  Writing (*write)(const describe::Job& job);
  Reading (*read)(const Settings& settings, const describe::DataStore& data);
};

bool is_illegal(const describe::Violation& violation) {
  return violation.severity == describe::Severity::kIllegal;
}

void PrintTo(const Writer& writer, std::ostream* out) {
  *out << writer.name;
}

class WrittenSettings : public ::testing::TestWithParam<Writer> {};

// What the framework cannot say is left out, so the job is what is read back. Few random jobs are
// legal, so many are drawn.
TEST_P(WrittenSettings, OfALegalJobBreakNoRule) {
  static const describe::DataStore kData;
  EXPECT_TRUE(rc::check([] {
    for (int drawn = 0; drawn < 5; ++drawn) {
      describe::Job job = any_job(GetParam().framework);
      const Writing written = GetParam().write(job);
      job.layout = GetParam().read(written.settings, kData).layout;
      if (!describe::check_rules(job).empty() || !describe::framework_allows(job)) {
        continue;
      }
      for (const describe::Violation& violation : check_settings(written.settings, job)) {
        if (is_illegal(violation)) {
          RC_FAIL(std::string(violation.rule) + ": " + violation.message);
        }
      }
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(
    Dialects, WrittenSettings,
    ::testing::Values(
        Writer{"megatron", Framework::kMegatronCore, write_megatron, read_megatron},
        Writer{"bridge", Framework::kMegatronCore, write_bridge, read_bridge},
        Writer{"torchtitan", Framework::kTorchtitan, write_torchtitan, read_torchtitan},
        Writer{"toml", Framework::kTorchtitan, write_torchtitan_toml, read_torchtitan_toml},
        Writer{"deepspeed", Framework::kDeepspeed, write_deepspeed, read_deepspeed},
        Writer{"maxtext", Framework::kMaxtext, write_maxtext, read_maxtext},
        Writer{"accelerate", Framework::kAccelerate, write_accelerate, read_accelerate},
        Writer{"nanotron", Framework::kNanotron, write_nanotron, read_nanotron}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace sextant::emit
