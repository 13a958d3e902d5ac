#include "agents/job_choice.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "describe/job_change.h"
#include "search/recommend.h"
#include "verify/claims.h"
#include "verify/conclude.h"
#include "verify/judge.h"

namespace sextant::agents {
namespace {

using verify::Ruling;
using verify::Verdict;

// Of a step: less is not worth changing a job for (search/plan_path.h).
constexpr double kWorthChanging = 0.005;

bool is_rejected(const RankedCandidate& one) {
  return one.verdict.ruling == Ruling::kRejected || !one.pinned.empty();
}

bool is_own(const RankedCandidate& one) {
  return one.candidate.origin == CandidateOrigin::kIdea;
}

// A setting: what it gains is a ceiling, which no predicted speed is compared with.
bool is_mend(const RankedCandidate& one) {
  return one.candidate.origin == CandidateOrigin::kFinding;
}

// Predicted to be no faster than the job as it stands.
bool is_no_faster(const RankedCandidate& one) {
  return one.verdict.speed && one.verdict.speed->speed < 1.0 + kWorthChanging;
}

// All kinds of the one are among the other's, or the other way round.
bool are_nested(const std::vector<describe::Change>& one,
                const std::vector<describe::Change>& other) {
  return std::ranges::includes(one, other) || std::ranges::includes(other, one);
}

bool are_twins(const RankedCandidate& one, const RankedCandidate& other, const Standing& standing) {
  if (!one.candidate.layout || !other.candidate.layout) {
    const verify::Change& change = one.candidate.proposal.change;
    return !one.candidate.layout && !other.candidate.layout && !change.mends.empty() &&
           change.mends == other.candidate.proposal.change.mends;
  }
  const describe::Layout& ones = *one.candidate.layout;
  const describe::Layout& others = *other.candidate.layout;
  if (!is_like_mesh(ones, others)) {
    return false;
  }
  // On the mesh of the job as it stands, other kinds of change are other ideas.
  const describe::Layout& stands = standing.job.layout;
  return !is_like_mesh(ones, stands) || are_nested(describe::changes_between(stands, ones),
                                                   describe::changes_between(stands, others));
}

// Of the first that could be compared; null: of none.
const step::Difference* first_speed(const std::vector<RankedCandidate>& ranked) {
  for (const RankedCandidate& one : ranked) {
    if (one.verdict.speed) {
      return &*one.verdict.speed;
    }
  }
  return nullptr;
}

std::string counted(std::size_t count, std::string_view what) {
  return count == 0 ? "" : fmt::format("{} {}", count, what);
}

class Choosing {
 public:
  Choosing(const Standing& standing, bool is_given) : standing_(standing), is_given_(is_given) {}

  Choice choice(std::vector<RankedCandidate> ranked) && {
    looked_at_ = ranked.size();
    for (RankedCandidate& one : ranked) {
      sort_in(std::move(one));
    }
    explain_fewer();
    explain_keep();
    return std::move(choice_);
  }

 private:
  // The judge has nothing against it: others are better, or it gains nothing that can be told.
  void tell_idea(RankedCandidate one) { choice_.ideas.push_back(std::move(one)); }

  void turn_down(RankedCandidate one) {
    const bool has_room = choice_.turned_down.size() < kProposals;
    if (is_own(one) || has_room) {
      choice_.turned_down.push_back(std::move(one));
    }
  }

  void sort_in(RankedCandidate one) {
    if (is_rejected(one)) {
      rejected_ += 1;
      turn_down(std::move(one));
      return;
    }
    const bool is_asked = is_given_ && one.verdict.ruling == Ruling::kUndecidable;
    if (standing_.is_users && is_no_faster(one) && !is_asked) {
      slower_ += 1;
      if (is_own(one)) {
        tell_idea(std::move(one));
      }
      return;
    }
    const bool is_twin = std::ranges::any_of(choice_.proposed, [&](const RankedCandidate& other) {
      return are_twins(one, other, standing_);
    });
    if (is_twin && !is_given_ && !is_own(one)) {
      twins_ += 1;
      return;
    }
    if (choice_.proposed.size() < kProposals) {
      choice_.proposed.push_back(std::move(one));
    } else if (is_mend(one) && one.verdict.stands() && !is_own(choice_.proposed.back()) &&
               std::ranges::none_of(choice_.proposed, is_mend)) {
      choice_.proposed.back() = std::move(one);
    } else if (is_own(one)) {
      tell_idea(std::move(one));
    }
  }

  void explain_fewer() {
    if (choice_.proposed.size() >= kProposals) {
      return;
    }
    if (looked_at_ == 0) {
      choice_.fewer = standing_.task == nullptr
                          ? "no model is known, so that no layout is proposed, and the run has no "
                            "finding that a known setting mends"
                          : "nothing was found that could be changed";
      return;
    }
    std::vector<std::string> parts;
    for (std::string part :
         {counted(rejected_, "were rejected"),
          counted(slower_, "are predicted to be no faster than the job as it stands"),
          counted(twins_, "differ little from one that is shown")}) {
      if (!part.empty()) {
        parts.push_back(std::move(part));
      }
    }
    choice_.fewer = fmt::format("of {} that were looked at, {}", looked_at_,
                                parts.empty() ? "these are all" : join(parts, ", "));
  }

  void explain_keep() {
    const bool any_stands = std::ranges::any_of(
        choice_.proposed, [](const RankedCandidate& one) { return one.verdict.stands(); });
    if (!standing_.is_users || !standing_.runs() || any_stands) {
      return;
    }
    const std::string mesh = mesh_words(standing_.job);
    const step::Difference* const speed = first_speed(choice_.proposed);
    if (speed == nullptr) {
      choice_.keep = fmt::format("{}: nothing that was looked at is predicted to be faster", mesh);
      return;
    }
    choice_.keep = fmt::format(
        "{}: nothing is faster beyond what the models can tell; at best the step is {}", mesh,
        verify::ratio_words(1.0 / speed->speed, {1.0 / speed->high, 1.0 / speed->low}));
  }

  const Standing& standing_;
  bool is_given_;
  Choice choice_;
  std::size_t looked_at_ = 0;
  std::size_t rejected_ = 0;
  std::size_t slower_ = 0;
  std::size_t twins_ = 0;
};

// Where no layout runs there is nothing to be faster than: the planner's first, then the shortest
// step.
bool comes_before(const RankedCandidate& one, const RankedCandidate& other) {
  if (one.is_first != other.is_first || is_rejected(one) != is_rejected(other)) {
    return one.is_first || (!other.is_first && is_rejected(other));
  }
  const auto step_of = [](const RankedCandidate& ranked) {
    return ranked.verdict.after ? std::optional(ranked.verdict.after->step.step) : std::nullopt;
  };
  const std::optional<Seconds> ones = step_of(one);
  const std::optional<Seconds> others = step_of(other);
  return ones && (!others || *ones < *others);
}

std::string legal_words(const step::Estimate& after, const Standing& standing) {
  return fmt::format("legal, needs {} of {} a device, step {}",
                     to_text(after.memory.fullest.device),
                     to_text(standing.task->problem.available()), to_text(after.step.step));
}

// What the planner recommends goes before what is faster by less than can be told: the fastest of
// many predicted layouts is among those that the model flatters (search/recommend.h).
void put_recommended_first(std::vector<RankedCandidate>& candidates) {
  const auto found = std::ranges::find_if(
      candidates, [](const auto& one) { return one.candidate.is_recommended; });
  if (found == candidates.end() || !found->verdict.stands() ||
      found->verdict.ruling != candidates.front().verdict.ruling) {
    return;
  }
  const std::optional<step::Estimate>& fastest = candidates.front().verdict.after;
  const std::optional<step::Estimate>& simplest = found->verdict.after;
  if (fastest && simplest &&
      simplest->step.step <= fastest->step.step * (1.0 + search::kMostGivenUp)) {
    std::rotate(candidates.begin(), found, std::next(found));
  }
}

}  // namespace

Choice chosen(std::vector<RankedCandidate> candidates, const Standing& standing, bool is_given) {
  std::ranges::stable_sort(
      candidates, [&](const RankedCandidate& one, const RankedCandidate& other) {
        return standing.is_users ? verify::stands_before(one.verdict, other.verdict)
                                 : comes_before(one, other);
      });
  if (standing.is_users) {
    put_recommended_first(candidates);
  }
  return Choosing(standing, is_given).choice(std::move(candidates));
}

Verdict first_verdict(const Standing& standing) {
  Verdict verdict;
  verdict.layout = standing.job.layout;
  verdict.after = standing.estimate;
  if (!verdict.after) {
    return verdict;  // not priced: nothing is decided
  }
  std::string words = legal_words(*verdict.after, standing);
  return verify::ended(std::move(verdict), Ruling::kAccepted, verify::Ground::kNothing,
                       std::move(words));
}

Verdict uncompared(Verdict verdict, const Standing& standing) {
  verdict.before.reset();
  verdict.speed.reset();
  if (!verdict.stands() || !verdict.after) {
    return verdict;
  }
  std::string words = legal_words(*verdict.after, standing);
  return verify::ended(std::move(verdict), Ruling::kAccepted, verify::Ground::kNothing,
                       std::move(words));
}

Verdict pinned_verdict(Verdict verdict, const std::string& key) {
  return verify::ended(std::move(verdict), Ruling::kRejected, verify::Ground::kRules,
                       fmt::format("'{}' is pinned, and it has another value", key));
}

}  // namespace sextant::agents
