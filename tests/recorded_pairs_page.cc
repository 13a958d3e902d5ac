#include "recorded_pairs_page.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace sextant::tests {
namespace {

constexpr std::string_view kRealHead = R"(# Diagnosis of runs recorded on a GPU, checked

Written by a test (`RecordedPairs.ThePageIsWhatDiagnosisSays`, with `SEXTANT_UPDATE_PAGES=1`), which compares. All runs are **real**: one H200 (PyTorch, XLA) and eight ranks of gloo on CPUs, four steps each, made by `scripts/measure/fault_traces.py` and `fault_traces_xla.py`. Other real runs: [diagnosis_recorded.md](diagnosis_recorded.md); made ones: [diagnosis.md](diagnosis.md).

The rule of each fault was written down from what the script does before diagnosis was asked. A fault took effect if the least of its 20 steps is longer than the median of those without it; one that did not is shown and not counted. Runs named `aside_…` were recorded after the rules were written, and no rule was changed since for what they showed.

)";

std::string milliseconds_of(Seconds time) {
  return fmt::format("{:.1f} ms", time / 1_ms);
}

std::string first_of(const DiagnosedPair& one) {
  return one.first() == nullptr ? "nothing" : one.first()->rule;
}

// Rows are the rules of faults, columns what came first.
std::string confusion_of(const std::vector<DiagnosedPair>& pairs) {
  std::vector<std::string> rules;
  std::map<std::string, std::map<std::string, int>> counts;
  for (const DiagnosedPair& one : pairs) {
    if (!one.took_effect) {
      continue;
    }
    for (const std::string& rule : {std::string(one.pair->rule), first_of(one)}) {
      if (std::ranges::find(rules, rule) == rules.end()) {
        rules.push_back(rule);
      }
    }
    counts[std::string(one.pair->rule)][first_of(one)] += 1;
  }
  std::string text = "## Confusion table\n\nColumns, what came first:";
  std::string line = "|---|";
  std::string head = "| fault |";
  for (std::size_t i = 0; i < rules.size(); ++i) {
    text += fmt::format(" {} {}{}", i + 1, rules[i], i + 1 < rules.size() ? "," : ".");
    head += fmt::format(" {} |", i + 1);
    line += "---|";
  }
  text += "\n\n" + head + "\n" + line + "\n";
  for (const std::string& rule : rules) {
    if (!counts.contains(rule)) {
      continue;
    }
    text += fmt::format("| {} |", rule);
    for (const std::string& first : rules) {
      const int count = counts[rule][first];
      text += count > 0 ? fmt::format(" {} |", count) : " |";
    }
    text += "\n";
  }
  return text;
}

std::string claims_of(const std::vector<DiagnosedPair>& pairs) {
  std::string text =
      "\n## Claims\n\nOf a step: what the fault's own finding says that mending it can gain at "
      "most, and what it saved without a profiler; (p) in the profiles. Kept: saved ≤ claimed ≤ 2 "
      "× saved.\n\n| run | fault | step | comes first | claimed | mended by | saved | kept | |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  for (const DiagnosedPair& one : pairs) {
    const bool is_counted = one.took_effect && one.saved.has_value();
    text +=
        fmt::format("| {} | {} | {} | {}{} | {} | {} | {} | {} | {}{} |\n", one.pair->name,
                    one.pair->fault, milliseconds_of(one.with.step), first_of(one),
                    one.is_right() ? "" : fmt::format(" (not {})", one.pair->rule),
                    one.claimed() ? milliseconds_of(*one.claimed()) : "–", one.pair->mend,
                    one.saved ? fmt::format("{}{}", milliseconds_of(*one.saved),
                                            one.pair->saved_by == SavedBy::kProfiles ? " (p)" : "")
                              : "–",
                    !is_counted     ? "–"
                    : one.is_kept() ? "yes"
                                    : "no",
                    one.took_effect ? "" : "took no effect that shows", one.pair->remark);
  }
  return text;
}

// What taking it away saves, as it was timed.
std::string confirmed_by(const Confirmation& one) {
  if (one.timed.empty()) {
    return std::string(one.words);
  }
  const auto with = timed_step(one.timed, "fault");
  const auto without = timed_step(one.timed, "fixed");
  return fmt::format("mended, {:.2f} to {:.2f} ms, {:.1f} % ({})", with->median / 1_ms,
                     without->median / 1_ms, 100.0 * (1.0 - without->median / with->median),
                     one.timed);
}

std::string quiet_of(const std::vector<DiagnosedPlain>& runs) {
  std::string text =
      "\n## Without a fault\n\nAll that is found above 3 % of a step. A step that reads its loss "
      "each time (.item(), block_until_ready()) waits before it launches anew; a product for "
      "queries, "
      "keys and values together leaves them in an order that is copied. Each of these was mended "
      "in "
      "a run of the same sizes (in `launch_bound` and `sixteen_bits` of others) and timed without "
      "a "
      "profiler.\n\n"
      "| run | found above 3 % | of a step | confirmed by |\n|---|---|---|---|\n";
  for (const DiagnosedPlain& run : runs) {
    bool has_any = false;
    for (const diagnose::Finding& finding : run.diagnosis.findings) {
      const double share = finding.per_step / run.diagnosis.step;
      if (share <= kQuietShare || finding.explained_by) {
        continue;
      }
      has_any = true;
      const Confirmation* confirmed = run.plain->confirmation_of(finding.rule);
      text +=
          fmt::format("| {} | {} | {:.1f} % | {} |\n", run.plain->name, finding.rule, 100.0 * share,
                      confirmed == nullptr ? "not measured" : confirmed_by(*confirmed));
    }
    text += has_any ? "" : fmt::format("| {} | nothing | – | |\n", run.plain->name);
  }
  return text;
}

// What is measured elsewhere: ../shared/truth/h200/train_steps.csv.
constexpr std::string_view kHuggingFace = R"(
## Hugging Face models without a fault

Their plain profiles hold launch-bound, memory-bound-epilogues and relayout-copies above 3 %. Not one of these very runs was mended and timed; what is measured of the mends: a CUDA graph takes 7.8 to 1.7 ms (launch_bound); RMSNorm as one kernel, which Hugging Face writes by its formula, 57.0 to 48.7 ms (norm_parts); an activation as one kernel 66.6 to 48.4 ms (elementwise_chain); both compiled 75.5 to 42.5 ms (compiled); without copies that change the order 50.9 to 48.7 ms (relayout); Hugging Face's llama-160m, eight sequences of 1,024 tokens, compiled 62.6 to 22.6 ms. llama-350m's launch-bound claims 44 ms; its device works 76.5 of the 128.6 ms that a step takes without a profiler, so no more than 52 can be gained.
)";

std::string kinds_of() {
  std::string text =
      "\n## Kinds\n\nReal: at least one run with it was recorded, here or in "
      "[diagnosis_recorded.md](diagnosis_recorded.md). Made: [diagnosis.md](diagnosis.md) and the "
      "tests of faults.\n\n| kind | rule | |\n|---|---|---|\n";
  for (const ListedKind& one : listed_kinds()) {
    text += fmt::format("| {} | {} | {} |\n", one.kind, one.rule, one.is_real ? "real" : "made");
  }
  return text;
}

}  // namespace

const std::vector<ListedKind>& listed_kinds() {
  static const std::vector<ListedKind> kKinds{
      {"input-bound", "input-bound", true},
      {"host, launch-bound", "launch-bound", true},
      {"synchronisation, .item()", "host-sync", true},
      {"Python GC", "python-gc", true},
      {"allocator churn", "allocator-churn", true},
      {"pageable copies", "pageable-copies", true},
      {"unfused optimizer", "unfused-optimizer", true},
      {"eager or math attention", "eager-attention", true},
      {"missing tensor cores, TF32, bf16", "missing-tensor-cores", true},
      {"needless recompute", "needless-recompute", true},
      {"exposed TP", "exposed-tp", false},
      {"exposed DP", "exposed-dp", false},
      {"exposed PP", "exposed-pp", false},
      {"exposed EP", "exposed-ep", false},
      {"exposed CP", "exposed-cp", false},
      {"slow collective", "slow-collective", false},
      {"pipeline bubble", "pipeline-bubble", false},
      {"stage imbalance", "stage-imbalance", false},
      {"slow worker", "slow-worker", true},
      {"late rank", "late-rank", true},
      {"rank late through data", "data-late-rank", true},
      {"sequence imbalance", "sequence-imbalance", true},
      {"expert imbalance", "expert-imbalance", false},
      {"straggling link", "straggling-link", false},
      {"small GEMMs", "small-products", true},
      {"memory-bound epilogues", "memory-bound-epilogues", true},
      {"vocabulary, logits", "vocabulary-logits", true},
      {"HBM near the limit", "hbm-near-limit", false},
      {"profiler overhead", "profiler-overhead", true},
      {"clock throttling", "clock-throttling", false},
      {"all-gather, then slice", "gather-then-slice", false},
      {"relayout copies", "relayout-copies", true},
      {"host does something else", "host-busy", true},
      {"checkpoint", "checkpoint-stall", true},
      {"recompilation", "recompilation", true}};
  return kKinds;
}

PairCounts counts_of(const std::vector<DiagnosedPair>& pairs) {
  PairCounts counts;
  for (const DiagnosedPair& one : pairs) {
    if (one.took_effect) {
      counts.asked += 1;
      counts.right += one.is_right() ? 1 : 0;
      counts.timed += one.saved ? 1 : 0;
      counts.kept += one.saved && one.is_kept() ? 1 : 0;
    }
  }
  return counts;
}

std::string real_page(const std::vector<DiagnosedPair>& pairs,
                      const std::vector<DiagnosedPlain>& plain) {
  const PairCounts counts = counts_of(pairs);
  return std::string(kRealHead) +
         fmt::format(
             "First comes the fault in **{} of {}** ({:.0f} %, asked 90); its claim is kept "
             "in **{} of {}** ({:.0f} %, asked 80).\n\n",
             counts.right, counts.asked, 100.0 * counts.right / counts.asked, counts.kept,
             counts.timed, 100.0 * counts.kept / counts.timed) +
         confusion_of(pairs) + claims_of(pairs) + quiet_of(plain) + std::string(kHuggingFace) +
         kinds_of();
}

}  // namespace sextant::tests
