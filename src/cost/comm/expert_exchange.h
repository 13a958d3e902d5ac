// How long an expert dispatch or combine takes with an expert library (DeepEP, UCCL-EP).
//
//   time = latency + transfer + fill · √(latency · transfer)
//   transfer = the longest of: copying by the SMs, the scale-up links, the network
//
// Normal mode: a token goes once to every domain that has one of its experts and is handed on there
// to every rank that has one, so bytes follow from how many distinct ranks and domains its top-k
// experts lie on. Low-latency mode (direct): every (token, expert) pair is a message of its own,
// with no pipeline to fill. Routing is uniform; the busiest rank of a skewed one takes longer.
//
// Left out: the arithmetic of a combine, routing metadata, other traffic on the same links, and
// overlap with compute. Plain all-to-all by NCCL is collective_time.h's. Constants and their
// sources: data/comm/experts.toml; how they were found: docs/models/experts.md.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.h"
#include "describe/expert_comm_facts.h"
#include "describe/words.h"

namespace sextant::cost {

enum class ExpertOp : std::uint8_t { kDispatch, kCombine };
enum class ExpertMode : std::uint8_t { kNormal, kLowLatency };
enum class ExpertLibrary : std::uint8_t {
  kDeepEp,         // V1 with default buffers, as SGLang runs it
  kDeepEpRelease,  // V1 as its authors published and tuned it
  kDeepEpV2,       // normal mode between domains only: nothing else was measured
  kUcclEp,
};
// What the transfer waits for.
enum class ExpertLimit : std::uint8_t { kNothing, kCopies, kScaleUp, kNetwork };
inline constexpr std::array<describe::Word<ExpertLimit>, 4> kExpertLimitWords{
    {{ExpertLimit::kNothing, "nothing to send"},
     {ExpertLimit::kCopies, "copies by the SMs"},
     {ExpertLimit::kScaleUp, "scale-up links"},
     {ExpertLimit::kNetwork, "network"}}};

// One call, of one layer and one microbatch.
struct ExpertExchange {
  std::int64_t ranks = 1;
  std::int64_t domains = 1;  // the ranks are spread evenly over these
  std::int64_t tokens = 0;   // of one rank
  std::int64_t topk = 1;
  std::int64_t experts = 1;       // of the layer
  std::int64_t topk_domains = 0;  // domains a token's experts may lie in; 0: any
  Bytes token;                    // one token as it is sent: token_bytes
  std::int64_t sms = 1;           // given to a normal kernel
  BytesPerSecond scale_up;        // of a device, one way
  BytesPerSecond network;         // of a device, one way
  bool efa = false;               // the network is AWS's
  ExpertOp op = ExpertOp::kDispatch;
  ExpertMode mode = ExpertMode::kNormal;
  ExpertLibrary library = ExpertLibrary::kDeepEp;
};

// A token of `hidden` elements: bf16, or fp8 with one fp32 scale for every 128 elements (what the
// libraries dispatch in).
constexpr Bytes bf16_token(std::int64_t hidden) {
  return Bytes(2.0 * static_cast<double>(hidden));
}
constexpr Bytes fp8_token(std::int64_t hidden) {
  return Bytes(static_cast<double>(hidden) * (1.0 + 4.0 / 128.0));
}

// Distinct ranks and domains that a token's experts lie on, the sender's own included: the expected
// number when every set of topk experts (of topk_domains domains, where limited) is as likely.
struct ExpertReach {
  double ranks = 1.0;
  double domains = 1.0;
};
ExpertReach expert_reach(const ExpertExchange& call);

// The constants of one kind of device.
struct ExpertModel {
  struct Op {
    Seconds latency;
    Seconds doubling;
    BytesPerSecond copy;
    double relay = 1.0;
    Seconds direct_latency;
    Seconds direct_expert;
    BytesPerSecond direct_rate;
  };
  std::array<Op, 2> ops;  // by ExpertOp
  double scale_up_share = 1.0;
  double fill = 0.0;
  double direct_scale_up_share = 1.0;
  Seconds direct_network;
  double network_share = 1.0;
  BytesPerSecond default_peers;
  Seconds release_latency;
  BytesPerSecond v2_copy;
  BytesPerSecond efa_staging;
  Seconds efa_message;
};
ExpertModel expert_model(const describe::ExpertCommFacts& facts,
                         const describe::ExpertKernelFacts& kernels);

struct ExpertTime {
  Seconds latency;
  Seconds transfer;  // the longest of the three below
  Seconds fill;
  Seconds copies;  // each as if alone
  Seconds scale_up;
  Seconds network;
  Bytes scale_up_bytes;  // that one device sends
  Bytes network_bytes;
  BytesPerSecond scale_up_rate;  // that the kernels reach
  BytesPerSecond network_rate;
  ExpertLimit limit = ExpertLimit::kNothing;

  [[nodiscard]] constexpr Seconds total() const { return latency + transfer + fill; }
};

// REQUIRES: counts ≥ 1 (tokens ≥ 0), domains ≤ ranks, topk ≤ experts; rates > 0 of links that the
// ranks need. One rank, or no tokens sent to nobody, costs nothing.
ExpertTime expert_time(const ExpertExchange& call, const ExpertModel& model);

}  // namespace sextant::cost
