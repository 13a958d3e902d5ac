// A diagnosis made by hand, for tests: rank 2 alone, one step of 100 ms, of which 30 are idle.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/quantity_text.h"
#include "base/scratch_folder_testing.h"
#include "explain/diagnose_view.h"

namespace sextant::explain {

// The built-in book and a rule "made-wait", whose words are only these.
inline diagnose::RuleBook made_book() {
  const ScratchFolder folder;
  (void)folder.write("diagnose/made.toml", R"toml([made-wait]
title = "devices wait for data"
meaning = "Devices stand idle while the host loads input."
record = "PyTorch: profile(activities=[CPU, CUDA])"

[made-wait.advice.workers]
what = "Load batches ahead, in processes of their own."
source = "https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html"
pytorch = "DataLoader(num_workers=4)"
megatron-core = "--num-workers 4"
)toml");
  const auto data = describe::DataStore::with_override(folder.path());
  return diagnose::RuleBook::load(data.value()).value();
}

inline diagnose::Finding made_finding(std::string rule, Seconds lost) {
  return {.rule = std::move(rule),
          .cause = "Rank 2 waits " + sextant::to_text(lost) + " a step for its data.",
          .ranks = {RankId{2}},
          .per_step = lost,
          .parts = {0_s, 0_s, 0_s, lost},
          .status = diagnose::Status::kVerified,
          .evidence = {{RankId{2}, {5'000'250, 12'000'250}, "DataLoader.next"}},
          .advice = {}};
}

inline DiagnoseAnswer made_diagnosis(std::vector<diagnose::Finding> found) {
  DiagnoseAnswer answer;
  metrics::StepMeasures step{.number = 3, .host = {0, 100'000'000}, .window = {0, 100'000'000}};
  step.time = {
      .compute_ns = 50'000'000, .exposed_communication_ns = 20'000'000, .idle_ns = 30'000'000};
  step.idle.host_late_ns = 30'000'000;
  DiagnosedRank rank{.summary = {.rank = RankId{2}, .recorded = 1, .steps = {step}}, .totals = {}};
  rank.totals += step;
  answer.totals = rank.totals;
  answer.ranks = {rank};
  answer.files = {{.name = "rank2.json", .bytes = {}, .ranks = {RankId{2}}}};
  FindingsAnswer findings;
  findings.book = made_book();
  findings.diagnosis.step = 100_ms;
  findings.diagnosis.parts = {50_ms, 20_ms, 0_ms, 30_ms};
  findings.diagnosis.findings = std::move(found);
  findings.diagnosis.ceiling =
      diagnose::total_ceiling(findings.diagnosis.findings, findings.diagnosis.parts);
  answer.findings = std::move(findings);
  return answer;
}

}  // namespace sextant::explain
