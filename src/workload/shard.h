// The sizes one rank works with: what every formula of workload/ and cost/ starts from.
//
// A Shard is a Job cut to the share of one rank: how many tokens of a microbatch it sees, before
// and after its tensor-parallel group splits them, how many ways weights and experts are divided,
// which bytes a number takes. It says nothing of a particular stage.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "describe/layout/job.h"

namespace sextant::workload {

struct Shard {
  describe::Framework framework = describe::Framework::kMegatronCore;
  std::int64_t tp = 1;
  bool sp = false;
  std::int64_t cp = 1;
  std::int64_t pp = 1;
  std::int64_t vpp = 1;
  std::int64_t dp = 1;
  std::int64_t ep = 1;
  std::int64_t etp = 1;
  std::int64_t expert_dp = 1;      // replicas of one expert: tp·cp·dp / (etp·ep)
  std::int64_t zero_shards = 1;    // ranks that a dense parameter's states are spread over
  std::int64_t expert_shards = 1;  // the same for an expert's
  std::int64_t replicas = 1;       // copies of those shards (HSDP's outer axis)
  std::int64_t microbatches = 1;
  std::int64_t mbs = 1;
  std::int64_t sequence = 0;        // tokens of a sequence, all context ranks together
  std::int64_t local_sequence = 0;  // of one context rank: sequence / cp
  std::int64_t tokens = 0;          // of a microbatch on one rank: mbs · local_sequence
  std::int64_t region_tokens = 0;   // between tensor-parallel regions: tokens / tp with sp
  // Keys that a query of causal attention sees on average, documents apart: half of `sequence`
  // where nothing is packed.
  double causal_keys = 0.0;
  std::int64_t vocab = 0;             // padded as the framework does
  std::int64_t activation_bytes = 2;  // an element of an activation
  bool operator==(const Shard&) const = default;
};

// REQUIRES: check_rules(job) finds nothing. `layout` stands in for the job's own, so that a search
// need not copy jobs.
Shard shard_of(const describe::Job& job, const describe::Layout& layout);
inline Shard shard_of(const describe::Job& job) {
  return shard_of(job, job.layout);
}

// Bytes an element of this format takes. Scales of 8- and 4-bit formats are not counted here.
constexpr double bytes_of(describe::Storage storage) {
  switch (storage) {
    case describe::Storage::kNone:
      return 0.0;
    case describe::Storage::kFp32:
      return 4.0;
    case describe::Storage::kBf16:
    case describe::Storage::kFp16:
      return 2.0;
    case describe::Storage::kFp8:
    case describe::Storage::kInt8:
      return 1.0;
  }
  return 0.0;
}
constexpr double bytes_of(describe::Precision precision) {
  switch (precision) {
    case describe::Precision::kFp32:
    case describe::Precision::kTf32:
      return 4.0;
    case describe::Precision::kFp16:
    case describe::Precision::kBf16:
      return 2.0;
    case describe::Precision::kFp8:
    case describe::Precision::kMxfp8:
    case describe::Precision::kInt8:
      return 1.0;
    case describe::Precision::kNvfp4:
      return 0.5;
  }
  return 0.0;
}

// a / b rounded up. REQUIRES: a ≥ 0, b ≥ 1.
constexpr std::int64_t divided_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace sextant::workload
