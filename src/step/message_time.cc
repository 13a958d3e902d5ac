#include "step/message_time.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "cost/comm/collective_time.h"
#include "cost/comm/group_shape.h"
#include "describe/model/parameters.h"
#include "workload/ep_traffic.h"

namespace sextant::step {
namespace {

// A group's axes on the torus: as many chips of each as it fills, in the torus' order.
std::array<cost::TorusAxis, 3> axes_of(std::int64_t chips, const Torus& torus) {
  std::array<cost::TorusAxis, 3> axes{};
  for (std::size_t i = 0; i < axes.size() && chips > 1; ++i) {
    const std::int64_t own = std::min(chips, torus.axes[i].chips);
    axes[i] = {own, own == torus.axes[i].chips && torus.axes[i].ring};
    chips = workload::divided_up(chips, own);
  }
  return axes;
}

// Inside a slice over its links; slices then exchange what each chip holds.
Seconds on_torus(describe::CollectiveOp op, Bytes bytes, const cost::GroupShape& shape,
                 const Torus& torus, const cost::CommModel& between) {
  const Seconds inside =
      cost::torus_time(op, bytes, axes_of(shape.per_domain, torus), torus.links).total();
  if (shape.domains == 1) {
    return inside;
  }
  const cost::GroupShape across{shape.domains, shape.domains, 1, shape.sharing};
  const Bytes held = bytes / static_cast<double>(shape.per_domain);
  return inside + cost::collective_time(op, held, across, between);
}

// The dispatcher's own all-to-all is the only one over tp × ep.
bool is_expert_exchange(const workload::Collective& message) {
  return message.group == workload::GroupKind::kTpEp &&
         message.op == describe::CollectiveOp::kAllToAll;
}

Seconds exchange_time(const workload::Collective& message, const cost::GroupShape& shape,
                      const ExpertRouting& routing, const ExpertLinks& links, double nic_rate) {
  const auto sent = static_cast<double>(std::min(message.input_bytes, message.output_bytes));
  const bool limited = routing.topk_groups > 0 && routing.groups == shape.domains;
  const cost::ExpertExchange call{
      .ranks = shape.ranks,
      .domains = shape.domains,
      .tokens = std::llround(sent / routing.copies / (routing.token / 1_B)),
      .topk = routing.topk,
      .experts = routing.experts,
      .topk_domains = limited ? routing.topk_groups : 0,
      .token = routing.token,
      .sms = links.sms,
      .scale_up = links.scale_up,
      .network = BytesPerSecond(nic_rate),
      .op = message.returns ? cost::ExpertOp::kCombine : cost::ExpertOp::kDispatch,
      .library = cost::ExpertLibrary::kDeepEpRelease};  // tuned: what trainers ship
  return cost::expert_time(call, links.model).total();
}

bool is_of_parameters(const workload::Collective& message) {
  using workload::GroupKind;
  const bool shards =
      message.group == GroupKind::kShard || message.group == GroupKind::kExpertShard;
  return shards && (message.op == describe::CollectiveOp::kAllGather ||
                    message.op == describe::CollectiveOp::kReduceScatter);
}

}  // namespace

std::optional<ExpertRouting> expert_routing(const describe::Job& job,
                                            const workload::Shard& shard) {
  if (job.layout.dispatcher != describe::Dispatcher::kDeepEp) {
    return std::nullopt;
  }
  for (const describe::Block& block : job.model.blocks) {
    if (const auto* moe = std::get_if<describe::MoeFfn>(&block.ffn)) {
      const std::int64_t width = moe->latent_width > 0 ? moe->latent_width : job.model.hidden;
      return ExpertRouting{
          .experts = moe->experts,
          .topk = moe->topk,
          .topk_groups = moe->topk_groups,
          .groups = moe->groups,
          .copies = workload::destination_ranks(*moe, shard.ep) * static_cast<double>(shard.etp),
          .token = cost::bf16_token(width)};
    }
  }
  return std::nullopt;
}

std::optional<Bytes> merged_bytes(const describe::Job& job) {
  const auto layers = static_cast<double>(job.model.layer_count());
  if (job.framework != describe::Framework::kMaxtext || layers < 1.0) {
    return std::nullopt;
  }
  constexpr double kHalf = 2.0;  // bytes: in the format of the products
  const auto all = static_cast<double>(describe::model_parameters(job.model).layers_total);
  return Bytes(kHalf * all / layers);
}

MessagePricer message_pricer(const describe::Job& job, const workload::Shard& shard,
                             const workload::RankGrid& grid, std::int64_t rank,
                             const StepModel& model) {
  MessagePricer pricer{model, grid, rank, expert_routing(job, shard), merged_bytes(job)};
  if (pricer.merged) {
    pricer.merged = *pricer.merged / static_cast<double>(shard.tp);
  }
  return pricer;
}

Seconds MessagePricer::once(const workload::Collective& message) const {
  const workload::RankGroup group = grid.group(message.group, rank, message.group_size);
  cost::GroupShape shape = cost::group_shape(group, model.domain_size);
  if (message.op == describe::CollectiveOp::kSendReceive) {
    // Two neighbours of the group.
    const bool near = rank / model.domain_size == group.next() / model.domain_size;
    shape = {2, near ? 1 : 2, near ? 2 : 1, 1};
  }
  if (routing && model.experts && is_expert_exchange(message)) {
    return exchange_time(message, shape, *routing, *model.experts, model.comm.nic_rate);
  }
  const Bytes bytes(static_cast<double>(std::max(message.input_bytes, message.output_bytes)));
  if (merged && !model.torus && is_of_parameters(message) && bytes < *merged) {
    return cost::collective_time(message.op, *merged, shape, model.comm) * (bytes / *merged);
  }
  return model.torus ? on_torus(message.op, bytes, shape, *model.torus, model.comm)
                     : cost::collective_time(message.op, bytes, shape, model.comm);
}

}  // namespace sextant::step
