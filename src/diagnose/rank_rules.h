// Rules about ranks against one another: who holds the others up, and why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/rank_study.h"
#include "diagnose/scene.h"

namespace sextant::diagnose {

// Less of a step is what steps differ by anyhow. Source: StragglerAnalysis (wia.py), which asks
// only of jobs slowed down by 3 % or more.
inline constexpr double kWorthSaying = 0.03;

// late-rank, slow-worker, data-late-rank, stage-imbalance, pipeline-bubble, straggling-link,
// slow-collective. Of one rank alone, or of ranks that share no collectives: abstentions.
Findings rank_findings(const Scene& scene);
// The same of a study already made of the scene's summary.
Findings rank_findings(const Scene& scene, const RankStudy& study);

// What of it each family adds; `study` says something (its `missing` is empty).
void add_late_ranks(const Scene& scene, const RankStudy& study, Findings& findings);
void add_pipeline(const Scene& scene, const RankStudy& study, Findings& findings);
void add_links(const Scene& scene, const RankStudy& study, Findings& findings);

// "rank 3", "ranks 0 and 6", "ranks 0 to 3 and 3 more"; with coordinates where there are some.
std::string rank_words(const metrics::Summary& summary, const std::vector<std::uint32_t>& ranks);
std::vector<RankId> rank_ids(const metrics::Summary& summary,
                             const std::vector<std::uint32_t>& ranks);

// What a mean step of `step` seconds loses when a replayed one loses `saved`: the same share.
Seconds of_recorded_step(const Scene& scene, const RankStudy& study, Seconds saved);

// Fewer ranks than the job has were given: nobody knows what the others do.
bool is_sample(const metrics::Summary& summary);

// The longest that one of the waiting ranks waits for one of these to come.
std::optional<Evidence> longest_wait(const RankStudy& study,
                                     const std::vector<std::uint32_t>& waited_for_ranks);

}  // namespace sextant::diagnose
