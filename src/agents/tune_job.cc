#include "agents/tune_job.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agents/job_analysis.h"
#include "agents/job_candidates.h"
#include "agents/job_choice.h"
#include "agents/job_proposals.h"
#include "agents/job_question.h"
#include "agents/noted_tools.h"
#include "agents/run_bench.h"
#include "base/text.h"
#include "describe/layout/layout_words.h"
#include "describe/layout/legality.h"

namespace sextant::agents {
namespace {

using describe::Layout;
using verify::Verdict;

constexpr std::size_t kPlanned = 5;    // layouts of the planner, of distinct meshes
constexpr std::size_t kMostTried = 6;  // entries that a proposal is tried with

class JobTuning {
 public:
  JobTuning(const JobCase& asked, const Tools& tools) : asked_(asked), tools_(tools) {}

  Result<Report> report() && {
    SEXTANT_CHECK_OK(plan());
    SEXTANT_CHECK_OK(stand());
    report_.analysis = job_analysis(asked_, standing_);
    SEXTANT_CHECK_OK(ask_what_is_known());
    SEXTANT_CHECK_OK(gather());
    std::vector<RankedCandidate> ranked = judged_candidates();
    Choice choice = chosen(std::move(ranked), standing_, !asked_.among.empty());
    for (RankedCandidate& one : choice.proposed) {
      report_.proposals.push_back(told(std::move(one)));
    }
    for (RankedCandidate& one : choice.turned_down) {
      report_.turned_down.push_back(told(std::move(one)));
    }
    for (RankedCandidate& one : choice.ideas) {
      report_.ideas.push_back(told(std::move(one)));
    }
    report_.fewer = std::move(choice.fewer);
    report_.keep = std::move(choice.keep);
    return std::move(report_);
  }

 private:
  // --- Where the job stands -------------------------------------------------------------------

  Result<void> plan() {
    if (asked_.task == nullptr || !asked_.among.empty()) {
      return {};
    }
    SEXTANT_TRY(rows_, tools_.plan(kPlanned));
    return {};
  }

  Result<void> stand() {
    standing_.task = asked_.task;
    if (asked_.task == nullptr) {
      return {};
    }
    standing_.job = asked_.task->problem.job;
    standing_.is_users = asked_.users.has_value();
    if (!asked_.users) {
      stand_at_plan();
      return {};
    }
    standing_.job.layout = *asked_.users;
    standing_.broken = asked_.broken.empty() ? describe::refusals(standing_.job) : asked_.broken;
    if (!describe::core_allows(standing_.job)) {
      return {};
    }
    SEXTANT_TRY(standing_.estimate,
                tools_.estimate(describe::layout_words(
                    standing_.job.layout, standing_.job.framework, standing_.job.cluster.device)));
    if (!standing_.estimate && step::check_tokens(standing_.job)) {
      standing_.estimate = step::whole_estimate(standing_.job, asked_.task->machine);
    }
    if (standing_.estimate && !asked_.run) {
      standing_.fits = !cost::margin_rejection(standing_.estimate->memory.fullest,
                                               asked_.task->problem.available());
    }
    return {};
  }

  // No layout runs yet: others are held to the planner's first.
  void stand_at_plan() {
    if (!rows_.empty()) {
      standing_.job.layout = rows_.front().layout;
      standing_.estimate = rows_.front().result;
    }
  }

  [[nodiscard]] bool is_held_to_plan() const { return !standing_.is_users && !rows_.empty(); }

  // --- Candidates -----------------------------------------------------------------------------

  Result<void> ask_what_is_known() {
    for (const kb::Question& question : job_questions(report_.analysis, standing_)) {
      SEXTANT_TRY(const std::vector<kb::Entry> found, tools_.search(question));
      for (const kb::Entry& entry : found) {
        if (std::ranges::find(entries_, entry.id, &kb::Entry::id) == entries_.end()) {
          entries_.push_back(entry);
        }
      }
    }
    return {};
  }

  Result<void> gather() {
    add(idea_candidates(asked_.ideas, standing_));
    add(mending_candidates(asked_, standing_));
    if (asked_.task == nullptr) {
      return {};
    }
    if (!asked_.among.empty()) {
      add(given_candidates(asked_.among, standing_));
      return {};
    }
    add(planned_candidates(rows_, standing_));
    if (standing_.is_users && !rows_.empty()) {
      SEXTANT_TRY(const std::optional<search::PlanPath> path, tools_.path(rows_.front().layout));
      if (path) {
        add(path_candidates(*path, standing_));
      }
    }
    if (standing_.is_users || is_held_to_plan()) {
      add(known_candidates(entries_, standing_));
    }
    return {};
  }

  // A layout that two roads lead to is looked at once; what speaks for it is kept together.
  void add(std::vector<JobCandidate> more) {
    for (JobCandidate& one : more) {
      const auto same = std::ranges::find_if(candidates_, [&one](const JobCandidate& other) {
        return one.layout && other.layout && *one.layout == *other.layout &&
               one.proposal.change.setting == other.proposal.change.setting;
      });
      if (same == candidates_.end()) {
        candidates_.push_back(std::move(one));
        continue;
      }
      const std::vector<verify::Citation>& citations = one.proposal.citations;
      if (same->origin != CandidateOrigin::kIdea) {
        same->proposal.citations.insert(same->proposal.citations.end(), citations.begin(),
                                        citations.end());
      }
    }
  }

  // --- Judgement ------------------------------------------------------------------------------

  Verdict judged(const verify::Proposal& proposal) {
    if (is_held_to_plan() && tools_.judges_elsewhere()) {
      return tools_.judge(proposal, &standing_.job.layout);
    }
    if (tools_.judges()) {
      Verdict verdict = tools_.judge(proposal);
      const bool is_nobodys = asked_.task != nullptr && !standing_.is_users && !is_held_to_plan();
      return is_nobodys && verdict.after ? uncompared(std::move(verdict), standing_) : verdict;
    }
    Verdict verdict = judged_by_run(proposal, asked_);
    tools_.judged(proposal, verdict);
    return verdict;
  }

  std::vector<RankedCandidate> judged_candidates() {
    std::vector<RankedCandidate> ranked;
    if (is_held_to_plan()) {
      ranked.push_back(first_of_plan());
    }
    for (JobCandidate& candidate : candidates_) {
      RankedCandidate one{.candidate = std::move(candidate), .verdict = {}};
      if (one.candidate.layout && one.candidate.origin != CandidateOrigin::kPlan) {
        one.pinned = changed_pin(*one.candidate.layout, standing_);
      }
      one.verdict = judged(one.candidate.proposal);
      if (is_held_to_plan() && one.candidate.origin != CandidateOrigin::kIdea) {
        hold_to_plan(one);
      }
      if (!is_unfounded(one)) {
        ranked.push_back(std::move(one));
      }
    }
    return ranked;
  }

  // What others are held to, as a proposal of its own: it is legal and fits, and there is nothing
  // to compare it with.
  RankedCandidate first_of_plan() {
    RankedCandidate first;
    first.is_first = true;
    first.candidate.layout = standing_.job.layout;
    verify::Proposal& proposal = first.candidate.proposal;
    proposal.title = fmt::format("the planner's first: {}", mesh_words(standing_.job));
    proposal.change.layout = describe::layout_words(standing_.job.layout, standing_.job.framework,
                                                    standing_.job.cluster.device);
    proposal.author = "built-in";
    first.verdict = first_verdict(standing_);
    tools_.judged(proposal, first.verdict);
    return first;
  }

  // Beside a layout that is not run either, the honest claim is which of both is faster.
  void hold_to_plan(RankedCandidate& one) {
    if (!one.verdict.speed) {
      return;
    }
    const double ratio = 1.0 / one.verdict.speed->speed;
    const step::Direction direction =
        ratio > 1.0 + step::kClaimedSameShare   ? step::Direction::kHigher
        : ratio < 1.0 - step::kClaimedSameShare ? step::Direction::kLower
                                                : step::Direction::kSame;
    one.candidate.proposal.claims = {{step::Quantity::kStep, direction, {}}};
    one.verdict = judged(one.candidate.proposal);
  }

  // What follows an entry that does not hold for the job follows nothing.
  static bool is_unfounded(const RankedCandidate& one) {
    if (one.candidate.entry.empty()) {
      return false;
    }
    return std::ranges::any_of(one.verdict.citations, [&one](const verify::JudgedCitation& cited) {
      return cited.citation.id == one.candidate.entry && !cited.stands;
    });
  }

  // --- The answer -----------------------------------------------------------------------------

  Judged told(RankedCandidate one) {
    Judged judged_one;
    verify::Proposal& draft = one.candidate.proposal;
    const bool is_own = one.candidate.origin == CandidateOrigin::kIdea;
    if (!is_own && !one.is_first && one.verdict.after) {
      const auto more = citations_about(one.candidate, entries_, standing_, kMostTried);
      draft.citations.insert(draft.citations.end(), more.begin(), more.end());
      if (!more.empty()) {
        one.verdict = judged(draft);
      }
    }
    judged_one.proposal = told_proposal(draft, one.verdict, {standing_, report_.analysis});
    if (one.is_first || is_own) {
      judged_one.verdict = one.verdict;
      tools_.judged(judged_one.proposal, one.verdict);
    } else {
      judged_one.verdict = judged(judged_one.proposal);
    }
    if (!one.pinned.empty()) {
      judged_one.verdict = pinned_verdict(std::move(judged_one.verdict), one.pinned);
    }
    if (one.candidate.layout) {
      describe::Job job = standing_.job;
      job.layout = *one.candidate.layout;
      judged_one.mesh = mesh_words(job);
      judged_one.layout = describe::layout_words(job.layout, job.framework, job.cluster.device);
    }
    judged_one.impact = impact_of_verdict(judged_one.proposal, judged_one.verdict);
    const bool is_advice = judged_one.verdict.ruling != verify::Ruling::kRejected;
    if (asked_.confidence != nullptr && standing_.is_users && is_advice) {
      judged_one.confidence = asked_.confidence->of(judged_one.verdict);
    }
    return judged_one;
  }

  const JobCase& asked_;
  NotedTools tools_;
  std::vector<search::PlanRow> rows_;
  Standing standing_;
  std::vector<kb::Entry> entries_;
  std::vector<JobCandidate> candidates_;
  Report report_;
};

}  // namespace

Result<Report> tune_job(const JobCase& job, const Tools& tools) {
  return JobTuning(job, tools).report();
}

}  // namespace sextant::agents
