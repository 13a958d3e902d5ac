#include "confusion.h"

#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sextant::tests {
namespace {

TEST(ConfusionDump, X) {
  const char* seeds = std::getenv("SEEDS");
  const int n = seeds ? atoi(seeds) : 1;
  const char* only = std::getenv("ONLY");
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(n); ++seed) {
    for (const JobKind job : kJobs) {
      if (only)
        break;
      const DiagnosedRun run = plain_result(job, seed);
      fmt::print("plain {}: step {:.2f} (said {:.2f})\n", name_of(job), run.true_step / 1_ms,
                 run.diagnosis.step / 1_ms);
      for (const auto& f : run.diagnosis.findings)
        fmt::print("     {} {:.2f} ms {:.1f}% {} {}\n", f.rule, f.per_step / 1_ms,
                   100 * (f.per_step / run.diagnosis.step), f.cause, f.explained_by.value_or(""));
    }
    for (const FaultWord& word : kFaultWords) {
      if (only && std::string(word.word).find(only) == std::string::npos)
        continue;
      const FaultResult r = fault_result(word.kind, seed);
      fmt::print("{} {} (rank {} size {:.2f}) {}: step {:.2f} saving {:.2f} {} {}\n",
                 r.is_right() ? "ok" : "NO", word.word, r.made.fault.rank, r.made.fault.size,
                 name_of(r.made.job), r.with.true_step / 1_ms, r.saving() / 1_ms,
                 r.expected() ? r.expected()->per_step / 1_ms : -1.0,
                 r.is_claim_kept() ? "kept" : "BROKEN");
      for (const auto& f : r.with.diagnosis.findings)
        fmt::print("     {} {:.2f} ms {:.1f}% {} {}\n", f.rule, f.per_step / 1_ms,
                   100 * (f.per_step / r.with.diagnosis.step), f.cause,
                   f.explained_by.value_or(""));
    }
  }
}

}  // namespace
}  // namespace sextant::tests
