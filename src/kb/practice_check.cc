#include "kb/practice_check.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "describe/cluster/load_cluster.h"
#include "describe/layout/job_layout.h"
#include "describe/layout/legality.h"
#include "describe/model/load_model.h"

namespace sextant::kb {
namespace {

using describe::Job;

enum class Side { kBefore, kAfter };

Result<Job> job_of(const PracticeJob& practice, Side side, const describe::DataStore& data) {
  const bool after = side == Side::kAfter;
  Job job;
  SEXTANT_TRY(job.model, describe::load_model(practice.model, data));
  SEXTANT_TRY(job.cluster,
              describe::load_cluster(after ? practice.cluster_after : practice.cluster, data));
  job.framework = practice.framework;
  SEXTANT_CHECK_OK(describe::set_layout(after ? practice.after : practice.before, job));
  SEXTANT_TRY(job.sequences,
              describe::parse_sequences(after ? practice.sequences_after : practice.sequences));
  job.global_batch = after ? practice.global_batch_after : practice.global_batch;
  return job;
}

// "before: WORLD-PRODUCT: …", or nothing.
std::string what_stops(const Job& job) {
  for (const describe::Violation& violation : describe::refusals(job)) {
    return fmt::format("{}: {}", violation.rule, violation.message);
  }
  if (const auto tokens = step::check_tokens(job); !tokens) {
    return sextant::to_text(tokens.error());
  }
  return {};
}

// Fills the sight; nothing, or what stands in the way of it.
Result<std::string> look(const Job& job, Quantity quantity, machine::Machines& machines,
                         Sight& sight) {
  if (std::string stop = what_stops(job); !stop.empty()) {
    return stop;
  }
  const auto machine = machines.step(job);
  if (!machine) {
    return sextant::to_text(machine.error());
  }
  const step::Estimate estimate = step::whole_estimate(job, *machine);
  sight.step = estimate.step.step;
  sight.terms = step::step_terms(estimate.step);
  sight.exposed = estimate.step.exposed.total();
  sight.memory = estimate.memory.fullest.device;
  sight.available = estimate.memory.available;
  sight.fits = estimate.memory.fits();
  sight.value = step::value_of(quantity, estimate, sight.fits);
  if (step::asks_for_time(quantity) && !sight.fits) {
    return fmt::format("does not fit: {} of {}", to_text(sight.memory), to_text(sight.available));
  }
  return std::string();
}

std::string_view word_of_direction(Direction direction) {
  return describe::word_of<Direction>(kDirectionWords, direction);
}

// What is seen against what is expected.
void judge(const Expects& expects, JobAgreement& job) {
  const double before = job.before.value;
  const double after = job.after.value;
  job.seen = step::direction_of(before, after);
  if (before > 0.0 && expects.quantity != Quantity::kFits) {
    job.ratio = after / before;
  }
  bool direction = *job.seen == expects.direction;
  if (expects.direction == Direction::kSame && job.ratio) {
    direction = std::abs(*job.ratio - 1.0) <= step::kClaimedSameShare;
  }
  const bool size = !expects.ratio || (job.ratio && expects.ratio->holds(*job.ratio));
  job.outcome = (expects.ratio ? size : direction) ? Outcome::kAgrees : Outcome::kDisagrees;
  const std::string seen =
      job.ratio ? fmt::format("{} (x{:.3f})", word_of_direction(*job.seen), *job.ratio)
                : std::string(word_of_direction(*job.seen));
  const std::string asked =
      expects.ratio ? fmt::format("{} (x{} to x{})", word_of_direction(expects.direction),
                                  expects.ratio->low, expects.ratio->high)
                    : std::string(word_of_direction(expects.direction));
  job.why = fmt::format("{}: {}; expected {}",
                        describe::word_of<Quantity>(kQuantityWords, expects.quantity), seen, asked);
}

Result<JobAgreement> check_job(const Expects& expects, const PracticeJob& practice,
                               const describe::DataStore& data, machine::Machines& machines) {
  JobAgreement agreement;
  agreement.job = practice.name;
  for (const Side side : {Side::kBefore, Side::kAfter}) {
    const bool before = side == Side::kBefore;
    SEXTANT_TRY(const Job job, job_of(practice, side, data));
    SEXTANT_TRY(const std::string stop,
                look(job, expects.quantity, machines, before ? agreement.before : agreement.after));
    if (!stop.empty()) {
      agreement.why = fmt::format("{}: {}", before ? "before" : "after", stop);
      return agreement;
    }
  }
  judge(expects, agreement);
  return agreement;
}

// Does the job break the rule before, and hold it after?
Result<JobAgreement> check_rule(const RuleCheck& check, const PracticeJob& practice,
                                const describe::DataStore& data) {
  JobAgreement agreement;
  agreement.job = practice.name;
  for (const Side side : {Side::kBefore, Side::kAfter}) {
    SEXTANT_TRY(const Job job, job_of(practice, side, data));
    Sight& sight = side == Side::kBefore ? agreement.before : agreement.after;
    for (const describe::Violation& violation : describe::broken_rules(job)) {
      sight.broken.emplace_back(violation.rule);
    }
    sight.value =
        static_cast<double>(std::count(sight.broken.begin(), sight.broken.end(), check.rule));
  }
  const bool breaks = agreement.before.value > 0.0;
  const bool holds = agreement.after.value == 0.0;
  agreement.outcome = breaks && holds ? Outcome::kAgrees : Outcome::kDisagrees;
  agreement.why = fmt::format("{} is {} before and {} after", check.rule,
                              breaks ? "broken" : "held", holds ? "held" : "broken");
  return agreement;
}

// The worst of the jobs decides.
void conclude(Agreement& agreement) {
  agreement.outcome = Outcome::kAgrees;
  for (const JobAgreement& job : agreement.jobs) {
    if (agreement.why.empty() || job.outcome > agreement.outcome) {
      agreement.why = job.why;
    }
    agreement.outcome = std::max(agreement.outcome, job.outcome);
  }
}

Result<Agreement> check_with(const Practice& practice, const describe::DataStore& data,
                             machine::Machines& machines) {
  Agreement agreement;
  agreement.practice = practice.id;
  if (const auto* none = std::get_if<Uncheckable>(&practice.check)) {
    agreement.why = none->reason;
    return agreement;
  }
  const auto* rule = std::get_if<RuleCheck>(&practice.check);
  const std::vector<PracticeJob>& jobs =
      rule != nullptr ? rule->jobs : std::get<JobsCheck>(practice.check).jobs;
  for (const PracticeJob& job : jobs) {
    auto checked = rule != nullptr ? check_rule(*rule, job, data)
                                   : check_job(practice.expects, job, data, machines);
    if (!checked) {
      checked.error().where = job.where;
      return tl::unexpected(std::move(checked.error()));
    }
    agreement.jobs.push_back(std::move(*checked));
  }
  conclude(agreement);
  return agreement;
}

}  // namespace

Result<Agreement> check(const Practice& practice, const describe::DataStore& data) {
  machine::Machines machines(data);
  return check_with(practice, data, machines);
}

Result<std::vector<Agreement>> check_all(const PracticeBook& book,
                                         const describe::DataStore& data) {
  machine::Machines machines(data);
  std::vector<Agreement> all;
  for (const Practice& practice : book.practices) {
    SEXTANT_TRY(Agreement agreement, check_with(practice, data, machines));
    all.push_back(std::move(agreement));
  }
  return all;
}

}  // namespace sextant::kb
