#include "agents/run_bench.h"

#include "verify/conclude.h"
#include "verify/settings.h"

namespace sextant::agents {
namespace {

describe::DifferenceFile no_intervals() {
  describe::DifferenceFile file;
  file.classes.emplace_back().name = "all";
  return file;
}

}  // namespace

verify::Verdict judged_by_run(const verify::Proposal& proposal, const JobCase& asked) {
  if (!proposal.change.layout.empty()) {
    verify::Verdict verdict;
    verdict.missing = {"the model, the cluster and the layout of the job"};
    return verify::ended(std::move(verdict), verify::Ruling::kUndecidable, verify::Ground::kWords,
                         "no model is known to judge a layout by");
  }
  // No layout is judged, so that neither job nor intervals are asked.
  static const search::Task kNoJob{};
  static const auto kNoIntervals = describe::DifferenceSpreads::of(no_intervals());
  if (!kNoIntervals) {
    return verify::ended({}, verify::Ruling::kUndecidable, verify::Ground::kFinding,
                         sextant::to_text(kNoIntervals.error()));
  }
  const verify::Bench bench{.task = kNoJob,
                            .spreads = *kNoIntervals,
                            .diagnosis = asked.run ? asked.run->diagnosis : nullptr,
                            .advice = asked.run ? asked.run->book : nullptr};
  return verify::judge_setting(proposal, bench);
}

}  // namespace sextant::agents
