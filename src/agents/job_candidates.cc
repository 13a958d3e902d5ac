#include "agents/job_candidates.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/job_layout.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/layout_words.h"
#include "kb/entry_says.h"
#include "verify/citations.h"

namespace sextant::agents {
namespace {

using describe::Job;
using describe::Layout;
using verify::Proposal;

constexpr std::string_view kBuiltIn = "built-in";

// "tp 8 -> 4, mbs 1 -> 2"; of many as many as a line holds.
std::string change_title(const Job& before, const Layout& layout) {
  constexpr std::size_t kMostNamed = 4;
  constexpr std::size_t kMostTitle = 80;
  Job after = before;
  after.layout = layout;
  std::vector<verify::ChangedKey> keys = verify::changed_keys(before, after);
  std::erase_if(keys, [](const verify::ChangedKey& key) {
    return key.key == "dp" && key.after == "0";  // the others do not divide
  });
  std::string title;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string part = fmt::format("{} {} -> {}", keys[i].key, keys[i].before, keys[i].after);
    if (i > 0 && (i == kMostNamed || title.size() + part.size() > kMostTitle)) {
      return title + fmt::format(", and {} more", keys.size() - i);
    }
    title += (i > 0 ? ", " : "") + part;
  }
  return title;
}

JobCandidate layout_candidate(CandidateOrigin origin, const Layout& layout,
                              const Standing& standing) {
  JobCandidate candidate{.origin = origin, .layout = layout};
  candidate.proposal.title = change_title(standing.job, layout);
  candidate.proposal.change.layout = changed_words(standing.job, layout);
  candidate.proposal.claims = first_claims(standing);
  candidate.proposal.author = kBuiltIn;
  return candidate;
}

// --- Of the user ------------------------------------------------------------------------------

JobCandidate given_candidate(const std::string& words, const Standing& standing) {
  Job job = standing.job;
  if (!describe::set_layout(words, job)) {
    JobCandidate candidate{.origin = CandidateOrigin::kGiven};
    candidate.proposal.title = printable(words);
    candidate.proposal.change.layout = words;
    candidate.proposal.author = kBuiltIn;
    return candidate;
  }
  return layout_candidate(CandidateOrigin::kGiven, job.layout, standing);
}

// --- Of the knowledge base --------------------------------------------------------------------

// Does it say that the change does harm?
bool is_harm(const kb::Entry& entry) {
  const auto effect = kb::effect_of(entry);
  if (entry.do_not || !effect) {
    return entry.do_not;
  }
  const bool is_more_better = effect->quantity == step::Quantity::kFits;
  return effect->direction == (is_more_better ? step::Direction::kLower : step::Direction::kHigher);
}

// What the job's value of the key becomes; nothing: the entry is about other jobs.
std::optional<std::string> laid_value(const std::string& from, const std::string& to,
                                      const std::string& own) {
  if (from.empty() || own.starts_with(from)) {
    return to;
  }
  const auto to_size = [](const std::string& text) {
    constexpr std::int64_t kLargest = 1'000'000;
    const auto size = to_integer(text);
    return size && *size > 0 && *size <= kLargest ? size : std::nullopt;
  };
  const auto before = to_size(from);
  const auto after = to_size(to);
  const auto now = to_size(own);
  if (!before || !after || !now || (*now * *after) % *before != 0) {
    return std::nullopt;
  }
  return fmt::format("{}", *now * *after / *before);
}

// Keys that say what is trained or in which numbers, and what follows from the others: no advice of
// others' decides these.
bool is_left_alone(std::string_view key) {
  return is_one_of(key, {"dp", "optimizer", "order", "precision", "parameters", "gradients"});
}

std::optional<Layout> laid_over(const kb::Entry& entry, const Standing& standing) {
  const bool is_turned = is_harm(entry);
  Job job = standing.job;
  for (const kb::NamedKey& named : kb::changed_keys(entry)) {
    const std::string& from = is_turned ? named.after : named.before;
    const std::string& to = is_turned ? named.before : named.after;
    const std::string own = describe::value_of(standing.job.layout, named.key);
    if (is_left_alone(named.key) || own.empty() || to.empty()) {
      continue;
    }
    const auto value = is_turned && from.empty() ? std::nullopt : laid_value(from, to, own);
    if (!value || !describe::lay_over(fmt::format("{}={}", named.key, *value), job)) {
      return std::nullopt;
    }
  }
  return job.layout == standing.job.layout ? std::nullopt : std::optional(job.layout);
}

// --- Of the run -------------------------------------------------------------------------------

// Whose settings the job can take, the nearest first.
std::vector<std::string> speakers_of(const Standing& standing) {
  std::vector<std::string> speakers;
  if (standing.task != nullptr) {
    const describe::Framework framework = standing.job.framework;
    speakers.emplace_back(
        describe::word_of<describe::Framework>(describe::kFrameworkWords, framework));
    if (framework == describe::Framework::kMaxtext) {
      speakers.emplace_back("xla");
      return speakers;
    }
  }
  speakers.emplace_back("pytorch");
  speakers.emplace_back("nccl");
  return speakers;
}

const diagnose::Setting* setting_for(const diagnose::Advice& advice,
                                     const std::vector<std::string>& speakers) {
  for (const std::string& speaker : speakers) {
    const auto found = std::ranges::find(advice.settings, speaker, &diagnose::Setting::framework);
    if (found != advice.settings.end()) {
      return &*found;
    }
  }
  return nullptr;
}

// What of the rule's advice holds for this run, in order of gain.
std::vector<const diagnose::Advice*> advice_for(const diagnose::Finding& finding,
                                                const diagnose::Rule& rule) {
  std::vector<const diagnose::Advice*> chosen;
  for (const std::string& id : finding.advice) {
    const auto found = std::ranges::find(rule.advice, id, &diagnose::Advice::id);
    if (found != rule.advice.end()) {
      chosen.push_back(&*found);
    }
  }
  for (const diagnose::Advice& advice : rule.advice) {
    if (finding.advice.empty()) {
      chosen.push_back(&advice);
    }
  }
  return chosen;
}

JobCandidate mending_candidate(const diagnose::Finding& finding, const diagnose::Advice& advice,
                               const diagnose::Setting& setting, Seconds whole) {
  JobCandidate candidate{.origin = CandidateOrigin::kFinding};
  Proposal& proposal = candidate.proposal;
  proposal.title = advice.what;
  proposal.change.setting = setting.text;
  proposal.change.mends = finding.rule;
  proposal.author = kBuiltIn;
  const double floor = std::max(whole - finding.per_step, Seconds()) / whole;
  const verify::Claim lower{step::Quantity::kStep, step::Direction::kLower,
                            step::RatioRange{floor, 1.0}};
  proposal.claims = {lower};
  proposal.citations = {{verify::Cited::kFinding, finding.rule,
                         verify::Claim{step::Quantity::kStep, step::Direction::kLower, {}}}};
  proposal.trade_offs = {fmt::format("advised by {}", advice.source)};
  return candidate;
}

std::optional<JobCandidate> mend_of(const diagnose::Finding& finding, const RecordedRun& run,
                                    const Standing& standing) {
  const Seconds whole = run.diagnosis->step;
  const diagnose::Rule* rule = run.book == nullptr ? nullptr : run.book->find(finding.rule);
  if (rule == nullptr || finding.explained_by || finding.per_step <= Seconds() ||
      whole <= Seconds()) {
    return std::nullopt;
  }
  const std::vector<std::string> speakers = speakers_of(standing);
  for (const diagnose::Advice* advice : advice_for(finding, *rule)) {
    const diagnose::Setting* setting = setting_for(*advice, speakers);
    if (setting != nullptr && advice->mends) {
      return mending_candidate(finding, *advice, *setting, whole);
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<verify::Claim> first_claims(const Standing& standing) {
  if (standing.runs()) {
    return {{step::Quantity::kStep, step::Direction::kLower, {}}};
  }
  if (standing.estimate && standing.broken.empty()) {
    return {{step::Quantity::kFits, step::Direction::kHigher, {}}};
  }
  return {};
}

std::string changed_pin(const Layout& layout, const Standing& standing) {
  for (const std::string& key : standing.task->problem.fixed) {
    const bool is_idle = key == "sp" && layout.tp == 1;  // there is nothing that it could split
    const Layout& pinned = standing.task->problem.job.layout;
    if (!is_idle && describe::value_of(layout, key) != describe::value_of(pinned, key)) {
      return key;
    }
  }
  return {};
}

std::vector<JobCandidate> given_candidates(std::span<const std::string> layouts,
                                           const Standing& standing) {
  std::vector<JobCandidate> candidates;
  for (const std::string& words : layouts) {
    JobCandidate candidate = given_candidate(words, standing);
    if (!candidate.proposal.change.layout.empty()) {
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

std::vector<JobCandidate> idea_candidates(std::span<const Proposal> ideas,
                                          const Standing& standing) {
  std::vector<JobCandidate> candidates;
  for (const Proposal& idea : ideas) {
    JobCandidate candidate{.origin = CandidateOrigin::kIdea, .proposal = idea};
    Job job = standing.job;
    const bool has_layout = standing.task != nullptr && !idea.change.layout.empty();
    if (has_layout && describe::lay_over(idea.change.layout, job)) {
      candidate.layout = job.layout;
    }
    Proposal& proposal = candidate.proposal;
    proposal.author = proposal.author.empty() ? "user" : proposal.author;
    if (proposal.title.empty()) {
      proposal.title = candidate.layout ? change_title(standing.job, *candidate.layout)
                                        : printable(idea.change.setting);
    }
    if (proposal.claims.empty() && has_layout) {
      proposal.claims = first_claims(standing);
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

std::vector<JobCandidate> planned_candidates(std::span<const search::PlanRow> rows,
                                             const Standing& standing) {
  std::vector<JobCandidate> candidates;
  for (const search::PlanRow& row : rows) {
    JobCandidate candidate = layout_candidate(CandidateOrigin::kPlan, row.layout, standing);
    candidate.is_recommended = &row == rows.data();
    if (!candidate.proposal.change.layout.empty()) {
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

std::vector<JobCandidate> path_candidates(const search::PlanPath& path, const Standing& standing) {
  std::vector<JobCandidate> candidates;
  Job at = standing.job;
  for (const search::PlanStep& step : path.steps) {
    if (!describe::lay_over(step.change, at)) {
      break;
    }
    JobCandidate candidate = layout_candidate(CandidateOrigin::kPlan, at.layout, standing);
    if (!candidate.proposal.change.layout.empty()) {
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

std::vector<JobCandidate> known_candidates(std::span<const kb::Entry> entries,
                                           const Standing& standing) {
  std::vector<JobCandidate> candidates;
  for (const kb::Entry& entry : entries) {
    const std::optional<Layout> layout = laid_over(entry, standing);
    if (!layout || !changed_pin(*layout, standing).empty()) {
      continue;
    }
    JobCandidate candidate = layout_candidate(CandidateOrigin::kKnown, *layout, standing);
    candidate.entry = entry.id;
    candidate.proposal.citations = {{verify::Cited::kEntry, entry.id, {}}};
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

std::vector<JobCandidate> mending_candidates(const JobCase& asked, const Standing& standing) {
  std::vector<JobCandidate> candidates;
  if (!asked.run || asked.run->diagnosis == nullptr) {
    return candidates;
  }
  for (const diagnose::Finding& finding : asked.run->diagnosis->findings) {
    if (auto candidate = mend_of(finding, *asked.run, standing)) {
      candidates.push_back(std::move(*candidate));
    }
  }
  return candidates;
}

}  // namespace sextant::agents
