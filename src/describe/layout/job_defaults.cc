#include "describe/layout/job_defaults.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/integers.h"

namespace sextant::describe {
namespace {

constexpr std::int64_t kDefaultSequence = 4096;

// About so many tokens a step are what large models are trained with. Source: The Llama 3 herd of
// models, arXiv:2407.21783, section 3.4.1 (4M tokens first).
constexpr double kTokensPerStep = 4.0 * 1024 * 1024;

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

void fill_batch(Job& job) {
  const std::int64_t microbatches = default_microbatches(job.layout);
  const std::int64_t replicas = std::max<std::int64_t>(job.dp(), 1);
  job.global_batch = saturating_product({replicas, job.layout.mbs, microbatches});
  job.assumed.push_back({"gbs",
                         std::to_string(job.global_batch),
                         fmt::format("not given: dp={} * mbs={} * {} microbatch{}", replicas,
                                     job.layout.mbs, microbatches, microbatches == 1 ? "" : "es"),
                         {}});
}

void fill_planned_batch(Job& job) {
  job.global_batch = planned_batch(job);
  job.assumed.push_back({"gbs", std::to_string(job.global_batch),
                         "not given: about 4 Mi tokens a step", "arXiv:2407.21783, section 3.4.1"});
}

std::int64_t least_devices(const Layout& layout) {
  const std::int64_t dp = std::max<std::int64_t>(layout.dp, 1);
  const std::int64_t plain = saturating_product({layout.tp, layout.cp, layout.pp, dp});
  const std::int64_t experts = saturating_product({layout.ep, layout.etp, layout.pp});
  return layout.dp > 0 ? plain : std::lcm(plain, experts);
}

}  // namespace sextant::describe
