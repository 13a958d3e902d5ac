#include "workload/ep_traffic.h"

#include <algorithm>
#include <cmath>

namespace sextant::workload {
namespace {

// Chance that none of `drawn` of `all`, drawn without repeats, is among `marked` of them.
double chance_of_none(std::int64_t all, std::int64_t marked, std::int64_t drawn) {
  double chance = 1.0;
  for (std::int64_t i = 0; i < drawn; ++i) {
    const std::int64_t left = std::max<std::int64_t>(all - marked - i, 0);
    chance *= static_cast<double>(left) / static_cast<double>(std::max<std::int64_t>(all - i, 1));
  }
  return chance;
}

// Tokens that a rank routes: those it does not share with its tensor-parallel neighbours.
std::int64_t routed_tokens(const Scene& at) {
  const bool split_here = at.tensor == TensorDialect::kDTensor && at.shard.etp == 1;
  return split_here ? divided_up(at.shard.tokens, at.shard.tp) : at.shard.region_tokens;
}

}  // namespace

double destination_ranks(const describe::MoeFfn& moe, std::int64_t ranks) {
  const std::int64_t groups = std::max<std::int64_t>(moe.groups, 1);
  const std::int64_t reached = moe.topk_groups > 0 ? std::min(moe.topk_groups, groups) : groups;
  // Ranks and experts that a token can reach, once its groups are drawn.
  const bool limited = reached < groups && ranks % groups == 0;
  const std::int64_t experts = limited ? moe.experts / groups * reached : moe.experts;
  const std::int64_t near = limited ? ranks / groups * reached : ranks;
  const std::int64_t held = std::max<std::int64_t>(moe.experts / ranks, 1);
  const double mean = static_cast<double>(near) * (1.0 - chance_of_none(experts, held, moe.topk));
  const double most = static_cast<double>(
      reached < groups ? std::min(ranks, capped(reached, divided_up(ranks, groups))) : ranks);
  return std::min(mean, most);
}

DispatchBytes dispatch_bytes(const Scene& at, const describe::MoeFfn& moe) {
  const std::int64_t tokens = routed_tokens(at);
  const std::int64_t width = moe.latent_width > 0 ? moe.latent_width : at.model.hidden;
  const double vector = static_cast<double>(activation_bytes(at, tokens, width));
  DispatchBytes bytes;
  bytes.counts = capped(moe.experts, kCounts.bytes);
  switch (at.layout.dispatcher) {
    case describe::Dispatcher::kAllGather:
      bytes.sent = activation_bytes(at, tokens, width);
      bytes.received = bytes.sent;
      bytes.map = capped(tokens, moe.experts);
      bytes.probabilities = capped(bytes.map, kProbabilities.bytes);
      return bytes;
    case describe::Dispatcher::kDeepEp: {
      const double copies = destination_ranks(moe, at.shard.ep) * static_cast<double>(at.shard.etp);
      bytes.sent = std::llround(vector * copies);
      break;
    }
    case describe::Dispatcher::kAllToAll:
      bytes.sent = capped(activation_bytes(at, tokens, width), moe.topk);
      bytes.probabilities = capped(capped(tokens, moe.topk), kProbabilities.bytes);
      break;
  }
  constexpr double kMost = 4.0e18;  // stays an int64
  const double hottest = static_cast<double>(bytes.sent) * at.routing.hottest;
  bytes.received = at.routing.hottest == 1.0 ? bytes.sent : std::llround(std::min(hottest, kMost));
  return bytes;
}

}  // namespace sextant::workload
