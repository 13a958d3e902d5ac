// Every rule of the book is broken by some job, and each job breaks its rule only.
#include "broken_jobs.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "describe/layout/framework_rules.h"
#include "emit/setting_rules.h"

namespace sextant::tests {
namespace {

using emit::Dialect;

std::set<std::string> broken(const Written& w) {
  std::set<std::string> ids;
  for (const auto& list : {describe::check_rules(w.job), describe::check_framework_rules(w.job),
                           emit::check_settings(w.settings, w.job)}) {
    for (const describe::Violation& violation : list) {
      ids.emplace(violation.rule);
      EXPECT_FALSE(violation.message.empty()) << violation.rule;
    }
  }
  return ids;
}

TEST(BrokenJobs, TheBasesAreLegal) {
  for (const Base base : {megatron, bridge, interleaved, experts, overlapped_experts, torchtitan,
                          torchtitan_experts, deepspeed, maxtext, accelerate, nanotron}) {
    const Written w = base();
    EXPECT_EQ(broken(w), std::set<std::string>{})
        << describe::word_of<Dialect>(emit::kDialectWords, w.settings.dialect);
    EXPECT_TRUE(describe::framework_allows(w.job));
    EXPECT_TRUE(emit::check_all(w.settings, w.job).empty());
  }
}

std::vector<BrokenJob> broken_jobs() {
  std::vector<BrokenJob> all;
  for (const auto& part : {core_jobs(), device_jobs(), megatron_jobs(), megatron_experts(),
                           megatron_settings(), torchtitan_jobs(), other_jobs()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Written written(const BrokenJob& c) {
  Written w = c.base();
  if (c.change) {
    c.change(w.job);
  }
  if (*c.settings != '\0') {
    set(w.settings, c.settings);
  }
  return w;
}

TEST(BrokenJobs, EachBreaksExactlyItsRule) {
  for (const BrokenJob& c : broken_jobs()) {
    const Written w = written(c);
    EXPECT_EQ(broken(w), std::set<std::string>{c.rule}) << c.rule << " " << c.settings;
    const auto all = emit::check_all(w.settings, w.job);
    ASSERT_EQ(all.size(), 1U) << c.rule << " " << c.settings;
    EXPECT_EQ(all.front().severity, c.severity) << c.rule;
  }
}

// A key given twice cannot be written in the table above.
TEST(BrokenJobs, RepeatedKeysAreARiskAndDeepspeedRefusesThem) {
  Written flags = megatron();
  flags.settings.given.push_back({"micro_batch_size", {"1"}, {"train.sh", 3}});
  EXPECT_EQ(broken(flags), std::set<std::string>{});
  flags.settings.given.push_back({"micro_batch_size", {"1"}, {"train.sh", 9}});
  EXPECT_EQ(broken(flags), std::set<std::string>{}) << "the same twice changes nothing";
  flags.settings.given.push_back({"micro_batch_size", {"2"}, {"train.sh", 12}});
  EXPECT_EQ(broken(flags), std::set<std::string>{"SETTING-REPEATED"});
  Written tree = deepspeed();
  tree.settings.given.push_back(tree.settings.given.front());
  EXPECT_EQ(broken(tree), std::set<std::string>{"DEEPSPEED-DUPLICATE"});
}

TEST(BrokenJobs, EveryRuleOfTheBookIsBrokenBySomeJob) {
  // cost/memory applies and tests MEMORY-FIT; the repeated keys have a test of their own.
  std::set<std::string> tested{"MEMORY-FIT", "SETTING-REPEATED", "DEEPSPEED-DUPLICATE"};
  for (const BrokenJob& c : broken_jobs()) {
    tested.insert(c.rule);
  }
  for (const describe::Rule& rule : describe::rule_book()) {
    EXPECT_TRUE(tested.contains(std::string(rule.id))) << rule.id;
    tested.erase(std::string(rule.id));
  }
  EXPECT_TRUE(tested.empty()) << *tested.begin() << " is not in the book";
  EXPECT_GE(broken_jobs().size(), 60U);
}

TEST(BrokenJobs, TheFrameworkAllowsWhatIsNotIllegal) {
  for (const BrokenJob& c : broken_jobs()) {
    const Written w = written(c);
    const auto found = describe::check_framework_rules(w.job);
    const bool illegal =
        std::any_of(found.begin(), found.end(), [](const describe::Violation& violation) {
          return violation.severity == describe::Severity::kIllegal;
        });
    EXPECT_EQ(describe::framework_allows(w.job), !illegal) << c.rule;
  }
}

// A setting may lift what the layout alone would break.
TEST(BrokenJobs, AMicrobatchGroupOrASmallerBatchLiftsARule) {
  // As a log prints it and as a script gives it.
  for (const char* group : {"microbatch_group_size_per_vp_stage=6",
                            "microbatch_group_size_per_virtual_pipeline_stage=6"}) {
    Written grouped = interleaved();
    grouped.job.global_batch = 120;  // 30 microbatches on pp=4
    EXPECT_EQ(emit::check_all(grouped.settings, grouped.job).size(), 1U);
    set(grouped.settings, group);
    EXPECT_TRUE(emit::check_all(grouped.settings, grouped.job).empty()) << group;
  }
  Written rounded = megatron();
  rounded.job.layout.pp = 1;
  rounded.job.layout.mbs = 3;
  EXPECT_EQ(emit::check_all(rounded.settings, rounded.job).size(), 1U);
  set(rounded.settings, "decrease_batch_size_if_needed=true");
  EXPECT_TRUE(emit::check_all(rounded.settings, rounded.job).empty());
}

TEST(BrokenJobs, ARecipeIsGivenTheBenefitOfTheDoubt) {
  Written w = bridge();
  set(w.settings,
      "ddp.use_megatron_fsdp=true model.recompute_granularity=full model.recompute_modules=moe_act "
      "optimizer.optimizer_cpu_offload=true model.cross_entropy_fusion_impl=te");
  w.job.layout.recompute.granularity = describe::Recompute::kFull;
  std::erase_if(w.settings.environment, [](const auto&) { return true; });
  EXPECT_EQ(broken(w), std::set<std::string>{});
}

}  // namespace
}  // namespace sextant::tests
