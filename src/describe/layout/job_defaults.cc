#include "describe/layout/job_defaults.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/integers.h"
#include "describe/layout/framework_defaults.h"
#include "describe/layout/layout_text.h"

namespace sextant::describe {
namespace {

constexpr std::int64_t kDefaultSequence = 4096;

// About so many tokens a step are what large models are trained with. Source: The Llama 3 herd of
// models, arXiv:2407.21783, section 3.4.1 (4M tokens first).
constexpr double kTokensPerStep = 4.0 * 1024 * 1024;
constexpr std::string_view kPlannedWhy = "not given: about 4 Mi tokens a step";
constexpr std::string_view kPlannedSource = "arXiv:2407.21783, section 3.4.1";

// The odd part of the devices, which replicas divide, times the nearest power of two.
std::int64_t planned_batch(const Job& job) {
  const auto devices = static_cast<std::uint64_t>(job.cluster.devices);
  const std::int64_t odd = job.cluster.devices >> std::countr_zero(devices);
  const double wanted = kTokensPerStep / as_double(job.sequences.length);
  const double least = as_double(job.cluster.devices) / 8.0;
  const double times = std::max({wanted, least, 1.0}) / as_double(odd);
  constexpr int kMostDoublings = 30;
  const int doublings =
      std::clamp(static_cast<int>(std::lround(std::log2(times))), 0, kMostDoublings);
  return odd << doublings;
}

}  // namespace

void fill_sequences(Job& job) {
  const std::int64_t longest = job.model.max_positions;
  job.sequences.length = longest > 0 ? std::min(longest, kDefaultSequence) : kDefaultSequence;
  job.assumed.push_back(
      {"seq",
       std::to_string(job.sequences.length),
       fmt::format("not given: {}, or the model's most where smaller", kDefaultSequence),
       {}});
}

std::int64_t default_microbatches(const Layout& layout) {
  constexpr std::int64_t kMicrobatchesPerPipelineRank = 4;
  return layout.pp == 1 ? 1 : saturating_product({kMicrobatchesPerPipelineRank, layout.pp});
}

std::int64_t usual_batch(const Job& job) {
  return saturating_product(
      {std::max<std::int64_t>(job.dp(), 1), job.layout.mbs, default_microbatches(job.layout)});
}

void fill_batch(Job& job) {
  const std::int64_t replicas = std::max<std::int64_t>(job.dp(), 1);
  const bool in_rounds = job.layout.pp > 1 && job.layout.vpp > 1;
  const std::int64_t unit =
      saturating_product({replicas, job.layout.mbs, in_rounds ? job.layout.pp : 1});
  const std::int64_t planned = planned_batch(job);
  job.global_batch = planned < unit ? unit : (planned + unit / 2) / unit * unit;
  job.assumed.push_back(
      {"gbs", std::to_string(job.global_batch),
       planned == job.global_batch
           ? std::string(kPlannedWhy)
           : fmt::format("{}, that dp={} of mbs={} divides", kPlannedWhy, replicas, job.layout.mbs),
       std::string(kPlannedSource)});
}

std::int64_t common_batch(std::span<const Job* const> jobs) {
  constexpr std::int64_t kMost = 1'000'000'000;
  std::int64_t unit = 1;
  std::int64_t least = 1;
  for (const Job* job : jobs) {
    if (job->dp() < 1) {
      continue;  // not legal whatever the batch
    }
    const std::int64_t own = saturating_product({job->dp(), job->layout.mbs, job->layout.pp});
    if (own > kMost || saturating_product({unit / std::gcd(unit, own), own}) > kMost) {
      return 0;
    }
    unit = std::lcm(unit, own);
    least = std::max(least, job->global_batch);
  }
  return least > kMost ? 0 : round_up(least, unit);
}

void fill_planned_batch(Job& job) {
  job.global_batch = planned_batch(job);
  job.assumed.push_back({"gbs", std::to_string(job.global_batch), std::string(kPlannedWhy),
                         std::string(kPlannedSource)});
}

Result<Job> with_keys(Job job, std::string_view keys) {
  SEXTANT_TRY(const std::vector<std::string> given, set_keys(keys, job.layout));
  job.stated.insert(given.begin(), given.end());
  const auto gives = [&given](std::string_view key) {
    return std::ranges::find(given, key) != given.end();
  };
  if (!gives("dp")) {
    job.layout.dp = 0;
    job.layout.dp = job.dp();
  }
  if (gives("vpp") && !gives("schedule")) {
    job.layout.schedule = default_schedule(job.layout.vpp);
  }
  return job;
}

std::int64_t stand_in_sequence(const Layout& layout) {
  constexpr std::int64_t kChunks = 2;  // each context-parallel rank holds two
  return saturating_product({kChunks, layout.cp, layout.tp});
}

std::int64_t least_devices(const Layout& layout) {
  const std::int64_t dp = std::max<std::int64_t>(layout.dp, 1);
  const std::int64_t plain = saturating_product({layout.tp, layout.cp, layout.pp, dp});
  const std::int64_t experts = saturating_product({layout.ep, layout.etp, layout.pp});
  return layout.dp > 0 ? plain : std::lcm(plain, experts);
}

}  // namespace sextant::describe
