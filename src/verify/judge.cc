#include "verify/judge.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "describe/layout/job_layout.h"
#include "describe/layout/legality.h"
#include "verify/citations.h"
#include "verify/claims.h"
#include "verify/conclude.h"
#include "verify/layout_judgement.h"
#include "verify/settings.h"

namespace sextant::verify {
namespace {

using describe::Job;
using describe::Violation;

// The product of its axes against the job's devices; "": they are the same.
std::string wrong_product(const Job& job) {
  const describe::Layout& at = job.layout;
  const std::int64_t model = saturating_product({at.tp, at.cp, at.pp});
  const std::int64_t devices = job.cluster.devices;
  const std::string axes = fmt::format("tp={} · cp={} · pp={}", at.tp, at.cp, at.pp);
  if (at.dp > 0) {
    const std::int64_t all = saturating_product({model, at.dp});
    return all == devices ? ""
                          : fmt::format("{} · dp={} are {} devices; the job has {}", axes, at.dp,
                                        all, devices);
  }
  return devices % model == 0 ? ""
                              : fmt::format("{} are {} devices, which do not divide the job's {}",
                                            axes, model, devices);
}

std::string wrong_devices(const Proposal& proposal, const Job& after) {
  if (proposal.devices && *proposal.devices != after.cluster.devices) {
    return fmt::format("it says it runs on {} devices; the job has {}", *proposal.devices,
                       after.cluster.devices);
  }
  return wrong_product(after);
}

// What stops the job with the change, by whose doing it is.
struct Broken {
  std::vector<Violation> by_change;
  std::vector<Violation> already;
};

Broken broken_by(const Job& before, const Job& after) {
  const std::vector<Violation> old = describe::refusals(before);
  Broken broken;
  for (Violation& violation : describe::refusals(after)) {
    const bool known = std::ranges::any_of(
        old, [&violation](const Violation& one) { return one.rule == violation.rule; });
    (known ? broken.already : broken.by_change).push_back(std::move(violation));
  }
  return broken;
}

std::string text_of(const Violation& violation) {
  return fmt::format("{}: {}", violation.rule, violation.message);
}

// What may be used of a device: the planner's share of it.
std::string memory_words(const cost::MemoryRejection& rejection, const search::Problem& problem) {
  return fmt::format("{}: needs at least {} on pipeline rank {}; {} may be used ({} less {:.3g} %)",
                     cost::MemoryRejection::kRule, to_text(rejection.needed),
                     rejection.pipeline_rank, to_text(rejection.available),
                     to_text(problem.job.cluster.device.usable_memory()), problem.headroom * 100.0);
}

// The job as it stands; nothing where it breaks what the model must rely on.
std::optional<step::Estimate> priced(const Job& job, const search::Task& task) {
  if (!describe::core_allows(job) || !step::check_tokens(job)) {
    return std::nullopt;
  }
  return step::whole_estimate(job, task.machine);
}

// One proposal for the layout, step by step. Each step answers whether the judgement goes on.
class LayoutJudgement {
 public:
  LayoutJudgement(const Proposal& proposal, const Bench& bench, MemoryRule rule)
      : proposal_(proposal),
        bench_(bench),
        rule_(rule),
        before_(bench.task.problem.job),
        after_(before_) {}

  Verdict verdict() && {
    if (words() && devices() && rules() && memory()) {
      const std::string sound = claims();
      citations();
      verdict_ = concluded(std::move(verdict_), sound);
    }
    return std::move(verdict_);
  }

 private:
  bool end(Ruling ruling, Ground ground, std::string reason) {
    verdict_ = ended(std::move(verdict_), ruling, ground, std::move(reason));
    return false;
  }

  bool words() {
    if (auto laid = describe::lay_over(proposal_.change.layout, after_); !laid) {
      laid.error().where = "the change";  // whichever parameter it came by
      return end(Ruling::kRejected, Ground::kWords, sextant::to_text(laid.error()));
    }
    if (const auto tokens = step::check_tokens(after_); !tokens) {
      return end(Ruling::kRejected, Ground::kWords, sextant::to_text(tokens.error()));
    }
    keys_ = changed_keys(before_, after_);
    if (keys_.empty() && !proposal_.devices) {
      return end(Ruling::kRejected, Ground::kWords, "it changes nothing: the job has it so");
    }
    return true;
  }

  bool devices() {
    if (std::string wrong = wrong_devices(proposal_, after_); !wrong.empty()) {
      return end(Ruling::kRejected, Ground::kDevices, std::move(wrong));
    }
    if (keys_.empty()) {
      return end(Ruling::kRejected, Ground::kWords, "it changes nothing: the job has it so");
    }
    return true;
  }

  bool rules() {
    Broken broken = broken_by(before_, after_);
    verdict_.broken = std::move(broken.by_change);
    verdict_.broken_already = std::move(broken.already);
    if (!verdict_.broken.empty()) {
      return end(Ruling::kRejected, Ground::kRules, text_of(verdict_.broken.front()));
    }
    if (!describe::core_allows(after_)) {
      const std::string why = text_of(verdict_.broken_already.front());
      verdict_.missing.push_back(fmt::format("a job that holds {}", why));
      return end(Ruling::kUndecidable, Ground::kRules,
                 fmt::format("the job breaks it as it stands, and would then: {}", why));
    }
    return true;
  }

  bool memory() {
    const search::Problem& problem = bench_.task.problem;
    verdict_.layout = after_.layout;
    verdict_.before = priced(before_, bench_.task);
    const step::Estimate& after =
        verdict_.after.emplace(step::whole_estimate(after_, bench_.task.machine));
    const cost::RankMemory& need = after.memory.fullest;
    auto rejection = cost::margin_rejection(need, problem.available());
    const bool ran = bench_.diagnosis != nullptr;
    if (verdict_.before) {
      const cost::RankMemory& had = verdict_.before->memory.fullest;
      fits_before_ = ran || !cost::margin_rejection(had, problem.available());
      if (ran && need.device <= had.device) {
        rejection.reset();
      }
    }
    verdict_.memory = rejection;
    fits_after_ = !rejection;
    if (!rejection || rule_ == MemoryRule::kIsNoted) {
      return true;
    }
    return end(Ruling::kRejected, Ground::kMemory, memory_words(*rejection, problem));
  }

  // Judges them; answers what is said where nothing is wrong.
  std::string claims() {
    const std::string memory = fits_words();
    if (!verdict_.before || !verdict_.after) {
      const std::vector<Violation> broken = describe::refusals(before_);
      const std::string why = broken.empty()
                                  ? "the job as it stands cannot be priced"
                                  : "the job as it stands breaks " + text_of(broken.front());
      for (const Claim& claim : proposal_.claims) {
        verdict_.claims.push_back(untold_claim(claim, why));
      }
      return "legal, " + memory;
    }
    const step::Estimate& before = *verdict_.before;
    const step::Estimate& after = *verdict_.after;
    const step::Difference& speed = verdict_.speed.emplace(step::difference(
        {after_, after.step.step}, {before_, before.step.step}, bench_.spreads, bench_.left_out));
    const Sides sides{before, after, fits_before_, fits_after_, with_setting(speed)};
    for (const Claim& claim : proposal_.claims) {
      verdict_.claims.push_back(judged_claim(claim, sides));
    }
    return fmt::format("step {}, {}; {}",
                       ratio_words(1.0 / speed.speed, {1.0 / speed.high, 1.0 / speed.low}),
                       moved_most(before, after), memory);
  }

  // A setting beside the layout may gain what its finding costs: the interval reaches further.
  step::Difference with_setting(step::Difference speed) {
    if (proposal_.change.setting.empty()) {
      return speed;
    }
    const FindingRuling ruling = finding_ruling(proposal_.change, bench_);
    if (ruling.finding == nullptr || ruling.ruling == Ruling::kRejected) {
      verdict_.missing.push_back(
          fmt::format("what '{}' does: {}", printable(proposal_.change.setting), ruling.why));
      return speed;
    }
    const Seconds whole = bench_.diagnosis->step;
    if (const Seconds left = whole - ruling.finding->per_step; left > Seconds()) {
      speed.high *= whole / left;
    }
    return speed;
  }

  void citations() {
    const CitedChange cited{before_, keys_, proposal_.change.setting};
    for (const Citation& citation : proposal_.citations) {
      verdict_.citations.push_back(judged_citation(citation, cited, bench_));
    }
  }

  [[nodiscard]] std::string fits_words() const {
    return verdict_.after
               ? fmt::format("needs {} of {}", to_text(verdict_.after->memory.fullest.device),
                             to_text(bench_.task.problem.available()))
               : std::string();
  }

  const Proposal& proposal_;
  const Bench& bench_;
  MemoryRule rule_;
  const Job& before_;
  Job after_;
  std::vector<ChangedKey> keys_;
  bool fits_before_ = true;
  bool fits_after_ = true;
  Verdict verdict_;
};

}  // namespace

Verdict judged_layout(const Proposal& proposal, const Bench& bench, MemoryRule memory) {
  return LayoutJudgement(proposal, bench, memory).verdict();
}

Verdict judge(const Proposal& proposal, const Bench& bench) {
  if (proposal.change.layout.empty() && !proposal.change.setting.empty()) {
    if (proposal.devices && *proposal.devices != bench.task.problem.job.cluster.devices) {
      return ended({}, Ruling::kRejected, Ground::kDevices,
                   wrong_devices(proposal, bench.task.problem.job));
    }
    return judge_setting(proposal, bench);
  }
  return judged_layout(proposal, bench, MemoryRule::kDecides);
}

bool stands_before(const Verdict& one, const Verdict& other) {
  const auto place = [](const Verdict& verdict) {
    return verdict.stands() ? 0 : verdict.ruling == Ruling::kUndecidable ? 1 : 2;
  };
  const auto speed = [](const Verdict& verdict) {
    return verdict.speed ? verdict.speed->speed : 0.0;
  };
  return place(one) != place(other) ? place(one) < place(other) : speed(one) > speed(other);
}

}  // namespace sextant::verify
