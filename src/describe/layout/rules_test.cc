#include "describe/layout/rules.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/file.h"
#include "base/places_testing.h"
#include "base/text.h"
#include "describe/cluster/load_cluster.h"
#include "describe/layout/framework_rules.h"
#include "describe/model/load_model.h"

namespace sextant::describe {
namespace {

const DataStore kRuleData;

// Llama-3.1-70B on 64 H100: 80 layers, 64/8 heads, ffn 28672; legal as it stands.
Job llama_job() {
  Job job;
  job.model = *load_model("llama-3.1-70b", kRuleData);
  job.cluster = *load_cluster("64xh100-sxm", kRuleData);
  job.layout.tp = 4;
  job.layout.pp = 4;
  job.layout.sp = true;
  job.sequences.length = 8192;
  job.global_batch = 128;
  return job;
}

// DeepSeek-V3 on 256 H100: 61 layers as 3+58, 256 experts in 8 groups.
Job deepseek_job() {
  Job job = llama_job();
  job.model = *load_model("deepseek-v3", kRuleData);
  job.cluster = *load_cluster("256xh100-sxm", kRuleData);
  job.layout.tp = 1;
  job.layout.sp = false;
  job.layout.pp = 8;
  job.layout.ep = 32;
  job.layout.split.layers_per_stage = {7, 8, 8, 8, 8, 8, 8, 6};
  return job;
}

std::vector<std::string> broken(const Job& job) {
  std::vector<std::string> ids;
  for (const Violation& violation : check_rules(job)) {
    ids.emplace_back(violation.rule);
  }
  return ids;
}

TEST(Rules, TheExamplesAreLegal) {
  EXPECT_EQ(broken(llama_job()), std::vector<std::string>{});
  EXPECT_EQ(broken(deepseek_job()), std::vector<std::string>{});
}

struct BrokenJob {
  const char* rule;
  std::function<void(Job&)> change;
  const char* nearest;  // one of the values offered; "" where none is
  bool moe = false;
};

const std::vector<BrokenJob>& broken_jobs() {
  static const std::vector<BrokenJob> kJobs{
      {"WORLD-PRODUCT", [](Job& j) { j.layout.dp = 2; }, "dp=4"},
      {"WORLD-PRODUCT", [](Job& j) { j.cluster.devices = 72; }, "devices=64"},
      {"BATCH-DP", [](Job& j) { j.global_batch = 130; }, "gbs=128"},
      {"BATCH-MICRO", [](Job& j) { j.layout.mbs = 3; }, "mbs=4"},
      {"HEADS-TP",
       [](Job& j) {
         j.layout.tp = 128;
         j.layout.pp = 1;
         j.cluster.devices = 128;
       },
       "tp=64"},
      {"KV-HEADS-TP", [](Job& j) { std::get<Attention>(j.model.blocks[0].mixer).kv_heads = 6; },
       "tp=3"},
      {"FFN-TP", [](Job& j) { std::get<DenseFfn>(j.model.blocks[0].ffn).width = 28674; }, "tp=3"},
      {"LAYERS-STAGES", [](Job& j) { j.model.layers.resize(78); }, "layers_per_stage=emb+loss"},
      {"LAYERS-STAGES", [](Job& j) { j.layout.split.layers_per_stage = {20, 20, 20, 19}; }, "pp=4"},
      {"SCHEDULE-VPP", [](Job& j) { j.layout.vpp = 5; }, ""},
      {"SCHEDULE-VPP", [](Job& j) { j.layout.schedule = Schedule::kZbv; }, ""},
      {"SEQ-CP",
       [](Job& j) {
         j.layout.cp = 4;
         j.sequences.length = 8188;
         j.layout.sp = false;
       },
       "cp=2"},
      {"SEQ-SP", [](Job& j) { j.sequences.length = 8190; }, "tp=3"},
      {"SP-TP", [](Job& j) { j.layout.tp = 1; }, "sp=0"},
      {"SEQ-POSITIONS", [](Job& j) { j.model.learned_positions = 2048; }, "seq=2048"},
      {"HEADS-CP",
       [](Job& j) {
         j.layout.cp = 32;
         j.layout.cp_method = CpMethod::kAllToAll;
         j.cluster.devices = 512;
       },
       "cp=16"},
      // Latent attention of 128 heads.
      {"HEADS-CP",
       [](Job& j) {
         j.layout.cp = 256;
         j.layout.cp_method = CpMethod::kAllToAll;
         j.cluster.devices = 2048;
       },
       "cp=128", true},
      {"EXPERTS-EP", [](Job& j) { j.layout.ep = 2; }, "ep=1,etp=1"},
      {"EXPERTS-EP",
       [](Job& j) {
         j.layout.ep = 24;
         j.cluster.devices = 192;
         j.global_batch = 192;
       },
       "ep=16", true},
      {"EXPERT-WORLD", [](Job& j) { j.layout.ep = 64; }, "ep=32", true},
      {"EXPERT-FFN-ETP",
       [](Job& j) {
         j.layout.etp = 3;
         j.layout.ep = 1;
         j.cluster.devices = 192;
         j.global_batch = 192;
       },
       "etp=2", true},
      {"ROUTER-GROUPS", [](Job& j) { std::get<MoeFfn>(j.model.blocks.back().ffn).topk = 300; }, "",
       true},
      {"PRECISION-DEVICE",
       [](Job& j) {
         j.cluster = *load_cluster("64xa100-sxm-80g", kRuleData);
         j.layout.precision = Precision::kFp8;
       },
       "precision=bf16"},
      {"RECOMPUTE-MODULE",
       [](Job& j) {
         j.layout.recompute = {.granularity = Recompute::kSelective,
                               .modules = {RecomputeModule::kMlaUpProjection}};
       },
       ""},
      {"ZERO-GROUP", [](Job& j) { j.layout.zero_group = 3; }, "zero_group=2"},
      {"VOCAB-TP", [](Job& j) { j.model.vocab = 2; }, "tp=2"},
  };
  return kJobs;
}

TEST(Rules, EachBrokenJobYieldsExactlyItsRuleWithTheNearestLegalValues) {
  for (const BrokenJob& c : broken_jobs()) {
    Job job = c.moe ? deepseek_job() : llama_job();
    c.change(job);
    const std::vector<Violation> violations = check_rules(job);
    const auto found = std::find_if(violations.begin(), violations.end(),
                                    [&](const Violation& v) { return v.rule == c.rule; });
    ASSERT_NE(found, violations.end()) << c.rule;
    EXPECT_EQ(violations.size(), 1U) << c.rule << " also " << violations.back().rule;
    EXPECT_FALSE(found->message.empty());
    if (*c.nearest != '\0') {
      EXPECT_NE(std::find(found->nearest.begin(), found->nearest.end(), c.nearest),
                found->nearest.end())
          << c.rule << ": " << found->message << " offers "
          << (found->nearest.empty() ? "nothing" : found->nearest[0]);
    }
  }
}

TEST(Rules, EveryCoreRuleIsBrokenBySomeJobAbove) {
  std::set<std::string> tested;
  for (const BrokenJob& c : broken_jobs()) {
    tested.insert(c.rule);
  }
  // Applied and tested elsewhere: by cost/memory, by the frameworks' checks, on settings.
  tested.insert({"MEMORY-FIT", "EP-DOMAIN", "SETTING-REPEATED", "ATTENTION-DEVICE",
                 "FRAMEWORK-AXES", "FRAMEWORK-DEVICE", "MXFP8-DEVICE", "PRECISION-FRAMEWORK",
                 "SCHEDULE-FRAMEWORK", "TP-OVERLAP-DEVICE", "TP-OVERLAP-DOMAIN"});
  for (const Rule& rule : rule_book()) {
    EXPECT_TRUE(!rule.framework.empty() || tested.contains(std::string(rule.id))) << rule.id;
    EXPECT_FALSE(rule.why.empty() || rule.fix.empty() || rule.formula.empty()) << rule.id;
    EXPECT_FALSE(rule.enforced.empty()) << rule.id;
  }
}

TEST(Rules, AreSortedAndFoundByTheirId) {
  EXPECT_TRUE(std::is_sorted(rule_book().begin(), rule_book().end(),
                             [](const Rule& a, const Rule& b) { return a.id < b.id; }));
  EXPECT_EQ(find_rule("heads-tp")->id, "HEADS-TP");
  EXPECT_NE(find_rule("HEAD-TP").error().what.find("HEADS-TP"), std::string::npos);
}

// Every check that a framework makes in its own code has a rule that stands for it.
TEST(Rules, EveryRequirementOfAFrameworkIsAccountedFor) {
  std::set<std::string> known;
  for (const Rule& rule : rule_book()) {
    for (const std::string_view number : split(rule.stands_for, ',')) {
      known.emplace(trimmed(number));
    }
  }
  known.erase("");
  std::size_t expected = 0;
  for (const RuleSource& source : rule_sources()) {
    for (std::int64_t i = 1; i <= source.requirements; ++i, ++expected) {
      EXPECT_TRUE(known.contains(std::string(source.letter) + std::to_string(i)))
          << source.framework << " " << i;
    }
  }
  EXPECT_EQ(known.size(), expected) << "a number that no framework has";
}

// With SEXTANT_UPDATE_PAGES set in the environment the page is written instead.
TEST(Rules, ThePageIsTheBook) {
  const std::filesystem::path page = source_folder() / "docs" / "rules.md";
  if (std::getenv("SEXTANT_UPDATE_PAGES") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    std::ofstream(page) << rules_page();
  }
  const auto text = read_text(page, 1_MiB);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, rules_page());
}

TEST(Rules, TheNearestValueOfADivisibilityRuleIsLegal) {
  EXPECT_TRUE(rc::check([] {
    static const Job kJob = llama_job();
    Job job = kJob;
    job.layout.pp = 1;
    job.layout.sp = false;
    job.layout.tp = *rc::gen::inRange<std::int64_t>(1, 200);
    job.cluster.devices = job.layout.tp * 2;
    for (const Violation& violation : check_rules(job)) {
      if (violation.rule != "HEADS-TP") {
        continue;
      }
      RC_ASSERT(!violation.nearest.empty());
      for (const std::string& offer : violation.nearest) {
        RC_ASSERT(64 % std::stoll(offer.substr(3)) == 0);
      }
    }
  }));
}

// Sizes a user can type must never overflow or trap, whatever their product.
TEST(Rules, HugeAxesAreRefusedNotOverflowed) {
  Job job = deepseek_job();
  job.layout.tp = 10'000'000;
  job.layout.cp = 10'000'000;
  job.layout.pp = 10'000'000;
  job.layout.vpp = 10'000'000;
  job.layout.ep = 10'000'000;
  job.layout.etp = 10'000'000;
  job.layout.dp = 10'000'000;
  job.layout.split.layers_per_stage.clear();
  job.global_batch = 1'000'000'000'000;
  EXPECT_FALSE(check_rules(job).empty());
}

// Expert groups of 8 from dp · cp · tp ranks, of which dp · tp alone would be too few: 1 · 8 · 1,
// 2 · 4 · 1 and 1 · 4 · 2.
TEST(FrameworkRules, TorchtitansExpertsBorrowFromContextParallelismToo) {
  Job job;
  job.framework = Framework::kTorchtitan;
  job.model = *load_model("mixtral-8x7b", kRuleData);
  job.cluster = *load_cluster("8xh100-sxm", kRuleData);
  job.layout.ep = 8;
  job.layout.zero = Zero::kParameters;
  job.sequences.length = 8192;
  job.global_batch = 8;
  for (const auto& [tp, cp] : {std::pair{1, 8}, {1, 4}, {2, 4}}) {
    job.layout.tp = tp;
    job.layout.cp = cp;
    job.layout.sp = tp > 1;
    EXPECT_EQ(broken(job), std::vector<std::string>{}) << tp << " " << cp;
    for (const Violation& violation : check_framework_rules(job)) {
      ADD_FAILURE() << violation.rule << " with tp=" << tp << ", cp=" << cp;
    }
    EXPECT_TRUE(framework_allows(job)) << tp << " " << cp;
  }
}

TEST(Job, DataParallelismIsWhatIsLeftOfTheWorld) {
  Job job = llama_job();
  EXPECT_EQ(job.dp(), 4);
  EXPECT_EQ(job.microbatches(), 32);
  job.cluster.devices = 65;
  EXPECT_EQ(job.dp(), 0);
}

}  // namespace
}  // namespace sextant::describe
