// Is a job legal? Every command gives the answer of describe::refusals, for random jobs of every
// framework.
#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/check_command.h"
#include "app/compare_command.h"
#include "app/emit_command.h"
#include "app/estimate_command.h"
#include "app/memory_command.h"
#include "app/plan_problem.h"
#include "app/plan_why_not.h"
#include "app/traffic_command.h"
#include "app/work_command.h"
#include "base/random_cases_testing.h"
#include "base/scratch_folder_testing.h"
#include "describe/layout/framework_rules.h"
#include "describe/layout/layout_text.h"
#include "emit/dialects.h"
#include "emit/setting_rules.h"
#include "explain/violation_view.h"
#include "random_jobs.h"
#include "road_words.h"
#include "search/space.h"

namespace sextant::tests {
namespace {

using app::Context;
using app::JobRequest;
using describe::Framework;
using describe::Violation;
using nlohmann::json;
using Ids = std::set<std::string>;

// Of each framework, in the long run and in the usual one.
constexpr unsigned kAllCases = 10'000;
constexpr unsigned kSomeCases = 500;

bool tries_all() {
  return random_cases(1) > 1;
}

Ids ids_of(const std::vector<Violation>& violations) {
  Ids ids;
  for (const Violation& violation : violations) {
    ids.emplace(violation.rule);
  }
  return ids;
}

std::vector<std::string> texts_of(const std::vector<Violation>& violations) {
  std::vector<std::string> texts;
  for (const Violation& violation : violations) {
    texts.push_back(explain::violation_text(violation));
  }
  return texts;
}

constexpr explain::Style kJson{explain::Format::kJson, false};

// What the parts of the answer say: each framework's own word, the search's, the files'.
void expect_parts_agree(const AskedJob& asked, const std::vector<Violation>& wanted) {
  const describe::Job& job = asked.job;
  EXPECT_EQ(describe::is_legal(job), wanted.empty());
  EXPECT_EQ(describe::core_allows(job) && describe::framework_allows(job), wanted.empty());
  search::Task problem;
  problem.problem.job = job;
  problem.problem.job.layout = {};
  EXPECT_EQ(texts_of(search::broken_rules(problem, job.layout)), texts_of(wanted));
  for (const auto& [dialect, name] : emit::kDialectWords) {
    if (emit::framework_of(dialect) != job.framework) {
      continue;
    }
    // Of the files: the same about the layout, and nothing more of a job that is legal.
    const Ids found =
        ids_of(describe::refusals(emit::check_all(emit::write(dialect, job).settings, job)));
    const Ids ids = ids_of(wanted);
    EXPECT_TRUE(std::includes(found.begin(), found.end(), ids.begin(), ids.end())) << name;
    if (wanted.empty()) {
      EXPECT_EQ(found, Ids{}) << name;
    }
  }
}

// The words come to the same job, of which read_job says the same.
void expect_words_agree(const AskedJob& asked, const std::vector<Violation>& wanted) {
  const auto reading = app::read_job(asked.words, app::megatron_context());
  ASSERT_TRUE(reading) << to_text(reading.error());
  EXPECT_EQ(reading->job.layout, asked.job.layout);
  EXPECT_EQ(texts_of(reading->violations), texts_of(wanted));
}

void expect_search_agrees(const AskedJob& asked, const std::vector<Violation>& wanted) {
  search::Problem problem;
  problem.job = asked.job;
  problem.machine.domain_size = asked.job.cluster.system.domain_size.value;
  if (search::Space(problem).holds(asked.job.layout)) {
    EXPECT_TRUE(wanted.empty()) << "the search would choose it";
  }
}

// Rules in a command's answer; those of a candidate of compare begin its reasons.
Ids answered(const json& answer) {
  Ids ids;
  if (answer.contains("candidates")) {
    for (const json& reason : answer["candidates"][0]["reasons"]) {
      const auto text = reason.get<std::string>();
      ids.insert(text.substr(0, text.find(':')));
    }
  } else if (answer.contains("violations")) {
    for (const json& violation : answer["violations"]) {
      ids.insert(violation["rule"].get<std::string>());
    }
  }
  return ids;
}

std::vector<std::string> risks_of(const describe::Job& job) {
  std::vector<Violation> broken = describe::broken_rules(job);
  std::erase_if(broken, [](const Violation& violation) {
    return violation.severity != describe::Severity::kRisk;
  });
  return texts_of(broken);
}

// Do the notes name every risk?
bool tells(const std::vector<std::string>& notes, const std::vector<std::string>& risks) {
  return std::ranges::all_of(risks, [&notes](const std::string& risk) {
    return std::ranges::any_of(notes,
                               [&risk](const std::string& note) { return note.ends_with(risk); });
  });
}

// Every command's own answer. What is legal may still not fit, which is exit code 1 too.
void expect_commands_agree(const AskedJob& asked, const std::vector<Violation>& wanted) {
  const Context context = app::megatron_context();
  const JobRequest& words = asked.words;
  app::CompareRequest twice{
      .job = words, .layouts = {words.layout, words.layout}, .clusters = {words.cluster}};
  const std::map<std::string, Result<app::Reply>> replies{
      {"estimate",
       app::reply_of(app::estimate(
           {.job = words, .sweep = {}, .plot_file = {}, .timeline_file = {}, .training = {}},
           context))},
      {"memory", app::reply_of(app::memory(words, context))},
      {"traffic",
       app::reply_of(app::traffic(
           {.job = words, .matrix_file = {}, .heat_map_file = {}, .pattern_file = {}, .by = {}},
           context))},
      {"compare", app::reply_of(app::compare(twice, context))},
      {"explain step", app::reply_of(app::explain_step(words, context))},
      {"explain compute", app::reply_of(app::explain_compute(words, context))},
      {"explain memory", app::reply_of(app::explain_memory(words, context))},
      {"explain traffic", app::reply_of(app::explain_traffic(words, context))},
      {"explain work", app::reply_of(app::explain_work(words, context))},
      {"emit",
       app::reply_of(app::emit_files(
           {.job = words, .dialect = {}, .launcher = {}, .folder = {}, .diff = {}}, context))}};
  const std::vector<std::string> risks = risks_of(asked.job);
  for (const auto& [command, reply] : replies) {
    const bool no_files = command == "emit" && !reply && wanted.empty();
    if (no_files) {
      continue;  // none are written for the framework
    }
    ASSERT_TRUE(reply) << command << ": " << to_text(reply.error());
    EXPECT_EQ(answered(json::parse(reply->text(kJson))), ids_of(wanted)) << command;
    EXPECT_TRUE(wanted.empty() || reply->outcome == app::Outcome::kNo) << command;
    EXPECT_TRUE(!wanted.empty() || tells(reply->notes, risks)) << command;
  }
  app::PlanRequest request;
  request.job = words;
  request.job.layout.clear();
  const auto problem = app::plan_problem(request, *app::plan_wishes(request), context);
  ASSERT_TRUE(problem) << to_text(problem.error());
  const auto plan = app::why_not(*problem, words.layout, nullptr);
  ASSERT_TRUE(plan) << to_text(plan.error());
  EXPECT_EQ(texts_of(plan->broken), texts_of(wanted));
}

// These keys of a layout, as it is typed.
std::string words_of_keys(const std::set<std::string, std::less<>>& keys,
                          const describe::Layout& layout) {
  std::string words;
  for (const auto& [key, value] : describe::layout_values(layout)) {
    if (keys.contains(key)) {
      words += fmt::format("{}{}={}", words.empty() ? "" : ",", key, value);
    }
  }
  return words;
}

// `check` on the framework's own files: of the layout that they can say, it says what every command
// does. Whether it could be asked.
bool check_agrees(const AskedJob& asked) {
  const auto writing = own_writing(asked.job);
  const describe::Cluster& cluster = asked.job.cluster;
  const bool whole_nodes = cluster.devices == cluster.nodes() * cluster.devices_per_node();
  if (!writing || !whole_nodes) {
    return false;  // no files for the framework, or no launcher that starts part of a node
  }
  const emit::Reading said = emit::read(writing->settings, app::built_in_data());
  describe::Job job = asked.job;
  job.layout = said.layout;
  job.stated = emit::stated_keys(said);
  const Ids wanted = ids_of(describe::refusals(job));
  const ScratchFolder folder;
  app::CheckRequest request{.files = {.files = own_files(*writing, asked.job, folder),
                                      .model = asked.words.model,
                                      .cluster = asked.words.cluster,
                                      .sequences = asked.words.sequences,
                                      .global_batch = asked.words.global_batch,
                                      .workload = {}}};
  auto reply = app::check(request, app::megatron_context());
  if (reply) {
    // What a training program decides, no file says: nothing is judged until somebody does.
    const auto& open = std::get<explain::CheckAnswer>(reply->answer);
    if (!open.reading.not_known.empty()) {
      EXPECT_FALSE(open.job || open.open.empty());
      request.files.layout = words_of_keys(open.reading.not_known, job.layout);
      reply = app::check(request, app::megatron_context());
    }
  }
  if (!reply) {
    ADD_FAILURE() << "check: " << to_text(reply.error());
    return true;
  }
  const auto& answer = std::get<explain::CheckAnswer>(reply->answer);
  EXPECT_TRUE(answer.job && answer.job->layout == job.layout)
      << testing::PrintToString(answer.open);
  Ids found = ids_of(describe::refusals(answer.violations));
  const bool fits = found.erase(std::string(cost::MemoryRejection::kRule)) == 0;
  EXPECT_TRUE(std::includes(found.begin(), found.end(), wanted.begin(), wanted.end()))
      << "check: " << testing::PrintToString(found) << " not " << testing::PrintToString(wanted);
  if (wanted.empty() && describe::is_legal(asked.job)) {  // else settings may contradict themselves
    EXPECT_EQ(found, Ids{}) << "check";
  }
  EXPECT_EQ(reply->outcome == app::Outcome::kFine, found.empty() && fits);
  return true;
}

// Rules about the layout, risks and notes among them: those of describe/layout/rules.cc and of
// framework_rules_*.cc. A rule that is not here is about settings.
const std::map<Framework, Ids>& framework_rules() {
  static const std::map<Framework, Ids> kRules{
      {Framework::kMegatronCore,
       {"EP-DOMAIN",
        "MEGATRON-BATCH-MICRO",
        "MEGATRON-CP-HIERARCHY",
        "MEGATRON-EP-OVERLAP",
        "MEGATRON-EP-OVERLAP-VPP",
        "MEGATRON-EXPERT-BIAS-ETP",
        "MEGATRON-EXPERT-DP-ORDER",
        "MEGATRON-FP8-GATHER",
        "MEGATRON-FSDP",
        "MEGATRON-GDN-HEADS",
        "MEGATRON-MAMBA-GROUPS",
        "MEGATRON-MOE-TP-SP",
        "MEGATRON-P2P-OVERLAP",
        "MEGATRON-PARAM-GATHER",
        "MEGATRON-SEQ-CP",
        "MEGATRON-TP-OVERLAP-SP",
        "MEGATRON-VPP-MICROBATCHES",
        "MEGATRON-VPP-PP",
        "SCHEDULE-FRAMEWORK",
        "TP-OVERLAP-DEVICE",
        "TP-OVERLAP-DOMAIN"}},
      {Framework::kMegatronDeepspeed,
       {"DEEPSPEED-BATCH", "DEEPSPEED-ZERO-PP", "SCHEDULE-FRAMEWORK", "TP-OVERLAP-DEVICE",
        "TP-OVERLAP-DOMAIN"}},
      {Framework::kTorchtitan,
       {"EP-DOMAIN", "SCHEDULE-FRAMEWORK", "TORCHTITAN-BATCH-MICRO", "TORCHTITAN-COMPILE",
        "TORCHTITAN-CONTEXT", "TORCHTITAN-EP-SHARD", "TORCHTITAN-FEW-MICROBATCHES",
        "TORCHTITAN-GRAPHS", "TORCHTITAN-KV-HEADS-TP", "TORCHTITAN-NO-ETP", "TORCHTITAN-TIED-PP",
        "TORCHTITAN-TOKENS", "TP-OVERLAP-DOMAIN"}},
      {Framework::kFsdp1, {"FRAMEWORK-AXES"}},
      {Framework::kDeepspeed,
       {"DEEPSPEED-BATCH", "DEEPSPEED-NO-ETP", "DEEPSPEED-ZERO-PP", "SCHEDULE-FRAMEWORK"}},
      {Framework::kMaxtext,
       {"MAXTEXT-BATCH-MICRO", "MAXTEXT-LAYERS", "MAXTEXT-MICROBATCHES", "SCHEDULE-FRAMEWORK"}},
      {Framework::kAccelerate,
       {"ACCELERATE-BATCH-MICRO", "ACCELERATE-CP-SP", "ACCELERATE-DDP-TP", "FRAMEWORK-AXES"}},
      {Framework::kNanotron,
       {"NANOTRON-BATCH-MICRO", "NANOTRON-KV-HEADS-TP", "NANOTRON-SCHEDULE", "NANOTRON-ZERO"}},
      {Framework::kOther, {}}};
  return kRules;
}

Ids rules_of(Framework framework) {
  Ids rules{"ATTENTION-DEVICE", "BATCH-DP",      "BATCH-MICRO",      "EXPERT-FFN-ETP",
            "EXPERT-WORLD",     "EXPERTS-EP",    "FFN-TP",           "HEADS-CP",
            "HEADS-TP",         "KV-HEADS-TP",   "LAYERS-STAGES",    "MXFP8-DEVICE",
            "PRECISION-DEVICE", "ROUTER-GROUPS", "RECOMPUTE-MODULE", "SCHEDULE-VPP",
            "SEQ-CP",           "SEQ-POSITIONS", "SEQ-SP",           "SP-TP",
            "VOCAB-TP",         "WORLD-PRODUCT", "ZERO-GROUP"};
  const Ids& own = framework_rules().at(framework);
  rules.insert(own.begin(), own.end());
  if (framework != Framework::kMaxtext && framework != Framework::kOther) {
    rules.insert("PRECISION-FRAMEWORK");
  }
  if (framework != Framework::kMaxtext && framework != Framework::kOther &&
      framework != Framework::kAccelerate) {
    rules.insert("FRAMEWORK-DEVICE");
  }
  return rules;
}

// How often what came up.
struct Tally {
  unsigned legal = 0;
  unsigned shown = 0;    // jobs that every command was asked about
  unsigned checked = 0;  // jobs whose files were
  std::map<std::string, unsigned> broken;
};

// One job, everybody's verdict on it.
void judge(const AskedJob& asked, unsigned number, Tally& tally) {
  constexpr unsigned kReadEvery = 10;
  constexpr unsigned kSearchEvery = 50;
  constexpr unsigned kShowEvery = 500;
  const std::vector<Violation> wanted = describe::refusals(asked.job);
  tally.legal += wanted.empty() ? 1 : 0;
  for (const std::string& rule : ids_of(describe::broken_rules(asked.job))) {
    tally.broken[rule] += 1;
  }
  expect_parts_agree(asked, wanted);
  if (asked.in_words && (tries_all() || number % kReadEvery == 0)) {
    expect_words_agree(asked, wanted);
  }
  if (number % kSearchEvery == 0) {
    expect_search_agrees(asked, wanted);
    tally.checked += asked.in_words && check_agrees(asked) ? 1 : 0;
  }
  if (asked.in_words && number % kShowEvery < 2) {
    tally.shown += 1;
    expect_commands_agree(asked, wanted);
  }
}

class Legality : public testing::TestWithParam<Framework> {};

void expect_proportions(Framework framework, unsigned cases, Tally& tally) {
  EXPECT_GE(5 * tally.legal, cases);
  EXPECT_EQ(tally.checked > 0, emit::own_dialect(framework).has_value());
  // A few cases may miss a rule that few layouts break.
  const Ids rules = rules_of(framework);
  const unsigned least = tries_all() ? 5 : 1;
  Ids rare;
  std::copy_if(rules.begin(), rules.end(), std::inserter(rare, rare.end()),
               [&](const std::string& rule) { return tally.broken[rule] < least; });
  EXPECT_LE(rare.size(), tries_all() ? 0U : 3U) << testing::PrintToString(rare);
  for (const auto& [rule, times] : tally.broken) {
    EXPECT_TRUE(rules.contains(rule)) << rule << " is broken and not listed";
  }
}

TEST_P(Legality, IsOneAnswerForEveryCommand) {
  const Framework framework = GetParam();
  RandomJobs jobs(framework, 7);
  Tally tally;
  const unsigned cases = tries_all() ? kAllCases : kSomeCases;
  for (unsigned i = 0; i < cases && !HasFailure(); ++i) {
    const AskedJob asked = jobs.next();
    SCOPED_TRACE(fmt::format("{} on {}: {} (seq {}, gbs {})", asked.words.model,
                             asked.words.cluster, asked.words.layout, asked.words.sequences,
                             asked.words.global_batch));
    judge(asked, i, tally);
  }
  if (HasFailure()) {
    return;  // the proportions are not those of all cases
  }
  std::cout << fmt::format("{} of {} legal, {} shown by every command, files of {} checked\n",
                           tally.legal, cases, tally.shown, tally.checked);
  expect_proportions(framework, cases, tally);
}

INSTANTIATE_TEST_SUITE_P(
    Frameworks, Legality,
    testing::Values(Framework::kMegatronCore, Framework::kMegatronDeepspeed, Framework::kTorchtitan,
                    Framework::kFsdp1, Framework::kDeepspeed, Framework::kMaxtext,
                    Framework::kAccelerate, Framework::kNanotron, Framework::kOther),
    [](const auto& named) {
      std::string name(describe::word_of<Framework>(describe::kFrameworkWords, named.param));
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace sextant::tests
