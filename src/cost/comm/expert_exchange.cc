#include "cost/comm/expert_exchange.h"

#include <algorithm>
#include <cmath>

namespace sextant::cost {
namespace {

// Of equal groups of `experts`, how many a random set of `topk` touches.
double expected_groups(double all_groups, double experts, std::int64_t topk) {
  const double groups = std::min(all_groups, experts);  // others hold no expert
  const double others = experts - experts / groups;
  double untouched = 1.0;
  for (std::int64_t i = 0; i < topk; ++i) {
    const auto taken = static_cast<double>(i);
    if (others <= taken) {
      return std::min(groups, static_cast<double>(topk));
    }
    untouched *= (others - taken) / (experts - taken);
  }
  return groups * (1.0 - untouched);
}

double per_domain(const ExpertExchange& call) {
  return static_cast<double>(call.ranks) / static_cast<double>(call.domains);
}

// What leaves a rank (or a domain) of what goes to all `parts`.
double leaving(double parts) {
  return 1.0 - 1.0 / parts;
}

void set_limit(ExpertTime& time) {
  time.transfer = std::max({time.copies, time.scale_up, time.network});
  if (time.transfer <= Seconds()) {
    time.limit = ExpertLimit::kNothing;
  } else if (time.transfer == time.network) {
    time.limit = ExpertLimit::kNetwork;
  } else {
    time.limit = time.transfer == time.scale_up ? ExpertLimit::kScaleUp : ExpertLimit::kCopies;
  }
}

ExpertTime normal_time(const ExpertExchange& call, const ExpertModel& model) {
  const ExpertModel::Op& op = model.ops[static_cast<std::size_t>(call.op)];
  const ExpertReach reach = expert_reach(call);
  const auto domains = static_cast<double>(call.domains);
  const Bytes sent = call.token * static_cast<double>(call.tokens);
  const bool crosses = call.domains > 1;
  ExpertTime time;
  time.latency = op.latency;
  // A token is read once and written for every rank.
  const bool v2 = call.library == ExpertLibrary::kDeepEpV2;
  const BytesPerSecond sm = v2 ? model.v2_copy : op.copy * (crosses ? op.relay : 1.0);
  time.copies = sent * (reach.ranks + 1.0) / (sm * static_cast<double>(call.sms));
  if (call.ranks > call.domains) {
    time.scale_up_bytes = sent * reach.ranks * leaving(per_domain(call));
    time.scale_up_rate = call.scale_up * model.scale_up_share;
    time.scale_up = time.scale_up_bytes / time.scale_up_rate;
  }
  if (crosses) {
    time.latency += op.doubling * std::log2(domains);
    time.network_bytes = sent * reach.domains * leaving(domains);
    time.network_rate = call.network * model.network_share;
    if (call.library == ExpertLibrary::kDeepEp) {
      time.network_rate = std::min(time.network_rate, model.default_peers / (domains - 1.0));
    }
    time.network = time.network_bytes / time.network_rate;
    if (call.efa && call.library == ExpertLibrary::kUcclEp) {
      time.network = std::max(time.network, sent * reach.domains / model.efa_staging);
    }
  }
  set_limit(time);
  time.fill = Seconds(model.fill * std::sqrt(time.latency.base() * time.transfer.base()));
  return time;
}

ExpertTime direct_time(const ExpertExchange& call, const ExpertModel& model) {
  const ExpertModel::Op& op = model.ops[static_cast<std::size_t>(call.op)];
  const auto domains = static_cast<double>(call.domains);
  const double messages = static_cast<double>(call.tokens) * static_cast<double>(call.topk);
  ExpertTime time;
  time.latency = op.direct_latency + op.direct_expert * static_cast<double>(call.experts);
  if (call.library == ExpertLibrary::kDeepEpRelease) {
    time.latency += model.release_latency;
  }
  if (call.ranks > call.domains) {
    time.scale_up_bytes = call.token * messages * (leaving(per_domain(call)) / domains);
    time.scale_up_rate = call.scale_up * model.direct_scale_up_share;
    time.copies = time.scale_up_bytes / op.direct_rate;
    time.scale_up = time.scale_up_bytes / time.scale_up_rate;
  }
  if (call.domains > 1) {
    const double far = messages * leaving(domains);
    time.latency += model.direct_network;
    time.network_bytes = call.token * far;
    time.network_rate = call.network * model.network_share;
    time.network = time.network_bytes / time.network_rate;
    if (call.efa && call.library == ExpertLibrary::kUcclEp) {
      time.network += model.efa_message * far;
    }
  }
  set_limit(time);
  return time;
}

}  // namespace

ExpertReach expert_reach(const ExpertExchange& call) {
  const auto domains = static_cast<double>(call.domains);
  const double chosen =
      call.topk_domains > 0 ? std::min(domains, static_cast<double>(call.topk_domains)) : domains;
  // A domain limit below topk experts is no limit that a router could keep.
  const double experts = std::max(static_cast<double>(call.experts) * chosen / domains,
                                  static_cast<double>(call.topk));
  return {.ranks = expected_groups(chosen * per_domain(call), experts, call.topk),
          .domains = expected_groups(chosen, experts, call.topk)};
}

ExpertModel expert_model(const describe::ExpertCommFacts& facts,
                         const describe::ExpertKernelFacts& kernels) {
  ExpertModel model;
  model.ops = {{{.latency = kernels.dispatch_latency.value,
                 .doubling = facts.dispatch_doubling.value,
                 .copy = facts.dispatch_copy.value,
                 .relay = facts.dispatch_relay.value,
                 .direct_latency = kernels.direct_dispatch_latency.value,
                 .direct_expert = kernels.direct_expert_latency.value,
                 .direct_rate = kernels.direct_dispatch_rate.value},
                {.latency = kernels.combine_latency.value,
                 .doubling = facts.combine_doubling.value,
                 .copy = facts.combine_copy.value,
                 .relay = facts.combine_relay.value,
                 .direct_latency = kernels.direct_combine_latency.value,
                 .direct_expert = Seconds(),
                 .direct_rate = kernels.direct_combine_rate.value}}};
  model.scale_up_share = facts.scale_up_share.value;
  model.fill = facts.fill.value;
  model.direct_scale_up_share = facts.direct_scale_up_share.value;
  model.direct_network = facts.direct_network_latency.value;
  model.network_share = facts.network_share.value;
  model.default_peers = facts.default_peers.value;
  model.release_latency = facts.release_latency.value;
  model.v2_copy = facts.v2_copy.value;
  model.efa_staging = facts.efa_staging.value;
  model.efa_message = facts.efa_message.value;
  return model;
}

ExpertTime expert_time(const ExpertExchange& call, const ExpertModel& model) {
  if (call.ranks <= 1) {
    return {};
  }
  return call.mode == ExpertMode::kNormal ? normal_time(call, model) : direct_time(call, model);
}

}  // namespace sextant::cost
