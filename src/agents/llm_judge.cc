#include "agents/llm_judge.h"

#include <utility>

#include "agents/job_candidates.h"
#include "agents/job_choice.h"
#include "agents/job_proposals.h"
#include "agents/job_standing.h"
#include "agents/noted_tools.h"
#include "agents/run_bench.h"
#include "describe/layout/layout_words.h"

namespace sextant::agents {
namespace {

Standing standing_of(const JobCase& job, const Report& report) {
  Standing standing;
  standing.task = job.task;
  if (job.task == nullptr) {
    return standing;
  }
  standing.job = job.task->problem.job;
  standing.is_users = job.users.has_value();
  if (job.users) {
    standing.job.layout = *job.users;
  } else if (!report.proposals.empty()) {
    standing.job.layout = report.proposals.front().verdict.layout.value_or(standing.job.layout);
  }
  return standing;
}

Judged told_judged(const verify::Proposal& proposal, verify::Verdict verdict,
                   const Standing& standing) {
  Judged judged{.proposal = proposal, .verdict = std::move(verdict)};
  if (judged.verdict.layout && standing.task != nullptr) {
    describe::Job job = standing.job;
    job.layout = *judged.verdict.layout;
    judged.mesh = mesh_words(job);
    judged.layout = describe::layout_words(job.layout, job.framework, job.cluster.device);
  }
  judged.impact = impact_of_verdict(proposal, judged.verdict);
  return judged;
}

verify::Verdict verdict_on(const verify::Proposal& proposal, const JobCase& job, const Tools& tools,
                           const Standing& standing) {
  const NotedTools noted(tools);
  if (!noted.judges()) {
    verify::Verdict verdict = judged_by_run(proposal, job);
    noted.judged(proposal, verdict);
    return verdict;
  }
  const bool is_held = !job.users && noted.judges_elsewhere();
  verify::Verdict verdict = noted.judge(proposal, is_held ? &standing.job.layout : nullptr);
  if (!verdict.layout || standing.task == nullptr) {
    return verdict;
  }
  if (const std::string pin = changed_pin(*verdict.layout, standing); !pin.empty()) {
    verdict = pinned_verdict(std::move(verdict), pin);
    if (tools.note) {  // beside what the judge said, who knows of no pins
      tools.note(kb::EventKind::kReply, verdict.reason);
    }
  }
  return verdict;
}

}  // namespace

std::function<Judged(const verify::Proposal&)> job_judge(const JobCase& job, const Tools& tools,
                                                         const Report& report) {
  return [&job, &tools, standing = standing_of(job, report)](const verify::Proposal& proposal) {
    return told_judged(proposal, verdict_on(proposal, job, tools, standing), standing);
  };
}

std::function<Judged(const verify::Proposal&)> case_judge(
    std::function<Result<verify::Verdict>(const verify::Proposal&)> judge, const Tools& tools) {
  return [judge = std::move(judge), tools](const verify::Proposal& proposal) {
    const NotedTools noted(tools);
    Judged judged{.proposal = proposal, .verdict = {}};
    if (auto verdict = judge(proposal)) {
      judged.verdict = *std::move(verdict);
    } else {
      judged.verdict.ruling = verify::Ruling::kRejected;
      judged.verdict.ground = verify::Ground::kWords;
      judged.verdict.reason = to_text(verdict.error());
    }
    noted.judged(proposal, judged.verdict);
    if (judged.verdict.stands()) {
      judged.mesh = proposal.change.layout;
    }
    return judged;
  };
}

}  // namespace sextant::agents
