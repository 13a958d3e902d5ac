#include "diagnose/precedence.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace sextant::diagnose {
namespace {

// Less, and there is another cause beside it.
constexpr double kMostOfIt = 0.5;

enum class When : std::uint8_t {
  kAlways,
  kAllRanks,   // the particular finding is of all ranks alike
  kSomeRanks,  // the explained one is of some ranks only
};
struct Explanation {
  std::string_view rule;
  std::string_view by;
  When when = When::kAlways;
};
// First what explains most particularly.
constexpr std::array<Explanation, 18> kExplanations{{
    // Who comes late because of its share of the work, not of its device.
    {"slow-worker", "expert-imbalance"},
    {"late-rank", "expert-imbalance"},
    {"stage-imbalance", "expert-imbalance"},
    {"slow-worker", "sequence-imbalance"},
    {"late-rank", "sequence-imbalance"},
    // Who comes late because its host does something that has a name.
    {"late-rank", "python-gc"},
    {"late-rank", "checkpoint-stall"},
    {"late-rank", "allocator-churn"},
    {"late-rank", "host-sync"},
    // What all hosts do makes now this rank the last and now that one; what one does, the others
    // wait for.
    {"data-late-rank", "input-bound", When::kAllRanks},
    {"late-rank", "launch-bound", When::kAllRanks},
    {"input-bound", "data-late-rank", When::kSomeRanks},
    {"launch-bound", "late-rank", When::kSomeRanks},
    {"slow-worker", "late-rank"},
    // What a late rank's own host does meanwhile, told from its idle time alone.
    {"cpu-contention", "late-rank", When::kSomeRanks},
    {"host-busy", "late-rank", When::kSomeRanks},
    // After a host has waited or paused, its device waits until it has launched anew.
    {"launch-bound", "host-sync"},
    {"launch-bound", "python-gc"},
}};

bool does_hold(When when, const Finding& finding, const Finding& by) {
  return when == When::kAlways || (when == When::kAllRanks && by.ranks.empty()) ||
         (when == When::kSomeRanks && !finding.ranks.empty());
}

// All its ranks are among those of `by`, where both name some.
bool blames_no_others(const Finding& finding, const Finding& by) {
  return finding.ranks.empty() || by.ranks.empty() ||
         std::ranges::all_of(finding.ranks, [&](RankId rank) {
           return std::ranges::find(by.ranks, rank) != by.ranks.end();
         });
}

Finding* unexplained(std::span<Finding> findings, std::string_view rule) {
  const auto found = std::ranges::find_if(
      findings, [&](const Finding& one) { return one.rule == rule && !one.explained_by; });
  return found == findings.end() ? nullptr : &*found;
}

// Where no loader was recorded, a rank that is late through its host may still be seen to wait
// where loops fetch their batch, most of that time: then data makes it late.
void name_lateness(std::span<Finding> findings) {
  Finding* const late = unexplained(findings, "late-rank");
  const Finding* const input = unexplained(findings, "input-bound");
  if (late == nullptr || input == nullptr || input->ranks.empty() || late->ranks != input->ranks ||
      input->per_step < late->per_step * kMostOfIt) {
    return;
  }
  late->rule = "data-late-rank";
  late->status = std::max(late->status, input->status);
  late->cause += ". Of its host: " + input->cause;
}

}  // namespace

void explain(std::span<Finding> findings) {
  name_lateness(findings);
  for (const Explanation& row : kExplanations) {
    Finding* const finding = unexplained(findings, row.rule);
    Finding* const by = unexplained(findings, row.by);
    if (finding != nullptr && by != nullptr && by->per_step >= finding->per_step * kMostOfIt &&
        does_hold(row.when, *finding, *by) && blames_no_others(*finding, *by)) {
      finding->explained_by = std::string(row.by);
      // One sees what its ranks lose themselves, another what the job loses to them.
      if (finding->per_step > by->per_step) {
        by->per_step = finding->per_step;
        by->parts = finding->parts;
      }
    }
  }
}

}  // namespace sextant::diagnose
