#include <algorithm>

#include "base/integers.h"
#include "cost/comm/collective_time.h"
#include "describe/layout/legality.h"
#include "search/baselines/intra_op.h"
#include "search/space.h"

namespace sextant::search {
namespace {

using describe::Layout;

constexpr std::int64_t kStages = 3;
// Microbatches of the probe; what one of them takes does not depend on it.
constexpr std::int64_t kProbeMicrobatches = 4;

struct ProbeCosts {
  Seconds first;
  Seconds middle;
  Seconds last;
};

Seconds pass_time(const step::StageCost& cost) {
  return cost.forward.total() + cost.backward.total();
}

// A model of three equal layers, one a stage; nothing where the rules refuse it.
class Probe {
 public:
  Probe(const Problem& problem, std::int64_t tp) : problem_(problem), tp_(tp) {
    const describe::Layout& at = problem.job.layout;
    const std::int64_t ranks = std::max({tp, at.ep * at.etp, std::int64_t{1}});
    problem_.job.cluster.devices = kStages * ranks;
    problem_.job.layout.dp = 0;
    problem_.job.layout.pp = kStages;
    problem_.job.layout.split = {};
    problem_.job.model.layers.assign(kStages, 0);
  }

  std::optional<ProbeCosts> costs(const describe::Block& block, GroupSplit split, Calls& calls) {
    const std::int64_t mbs = base_mbs_;
    if (split == GroupSplit::kBatch && (tp_ == 1 || mbs % tp_ != 0)) {
      return std::nullopt;
    }
    if (split == GroupSplit::kReplicated && tp_ == 1) {
      return std::nullopt;  // the same as by tensor
    }
    Problem probe = problem_;
    probe.job.model.blocks = {block};
    probe.job.model.mtp_layers = 0;
    Layout& layout = probe.job.layout;
    layout.tp = split == GroupSplit::kTensor ? tp_ : 1;
    layout.sp = layout.sp && layout.tp > 1;
    layout.mbs = split == GroupSplit::kBatch ? mbs / tp_ : mbs;
    const std::int64_t dp = probe.job.cluster.devices / (kStages * layout.tp);
    probe.job.global_batch = saturating_product({dp, layout.mbs, kProbeMicrobatches});
    if (!describe::is_legal(probe.job)) {
      return std::nullopt;
    }
    Leaf leaf(probe);
    const std::vector<step::StageCost> stages = leaf.stages(layout);
    calls += leaf.calls();
    return ProbeCosts{pass_time(stages[0]), pass_time(stages[1]), pass_time(stages[2])};
  }

 private:
  Problem problem_;
  std::int64_t tp_ = 1;
  std::int64_t base_mbs_ = problem_.job.layout.mbs;
};

SplitCosts middles(Probe& probe, const describe::Block& block, Calls& calls) {
  SplitCosts costs;
  for (std::size_t i = 0; i < kGroupSplits; ++i) {
    if (const auto found = probe.costs(block, static_cast<GroupSplit>(i), calls)) {
      costs[i] = found->middle;
    }
  }
  return costs;
}

// The state that activations are in between groups.
enum class Held : std::uint8_t { kSequence, kBatch, kWhole };

Held held_after(GroupSplit split, bool sp) {
  switch (split) {
    case GroupSplit::kTensor:
      return sp ? Held::kSequence : Held::kWhole;
    case GroupSplit::kBatch:
      return Held::kBatch;
    case GroupSplit::kReplicated:
      return Held::kWhole;
  }
  return Held::kWhole;
}

// From parts to other parts every device sends to every other, both ways; between parts and the
// whole they are gathered in one of the two passes and cut in the other, which is free.
Seconds resend_time(Held from, Held into, const Problem& problem, std::int64_t tp) {
  if (from == into || tp == 1) {
    return {};
  }
  const describe::Job& job = problem.job;
  constexpr double kBytes = 2.0;  // bf16
  const Bytes whole(as_double(job.layout.mbs) * as_double(job.sequences.length) *
                    as_double(job.model.hidden) * kBytes);
  const std::int64_t domain = std::max<std::int64_t>(problem.machine.domain_size, 1);
  const std::int64_t inside = std::min(tp, domain);
  const cost::GroupShape group{tp, (tp + inside - 1) / inside, inside, 1};
  if (from != Held::kWhole && into != Held::kWhole) {
    return cost::collective_time(describe::CollectiveOp::kAllToAll, whole / as_double(tp), group,
                                 problem.machine.comm) *
           2.0;
  }
  return cost::collective_time(describe::CollectiveOp::kAllGather, whole, group,
                               problem.machine.comm);
}

}  // namespace

GroupCosts group_costs(const Problem& problem, std::int64_t tp) {
  GroupCosts costs;
  Probe probe(problem, tp);
  const std::vector<describe::Block>& blocks = problem.job.model.blocks;
  for (const describe::Block& block : blocks) {
    GroupCosts::Layer layer;
    if (!std::holds_alternative<std::monostate>(block.mixer)) {
      describe::Block alone = block;
      alone.ffn = std::monostate();
      alone.norms = std::max(block.norms / 2, 1);
      layer.mixer = middles(probe, alone, costs.calls);
    }
    if (!std::holds_alternative<std::monostate>(block.ffn)) {
      describe::Block alone = block;
      alone.mixer = std::monostate();
      alone.norms = std::max(block.norms / 2, 1);
      layer.ffn = middles(probe, alone, costs.calls);
    }
    costs.blocks.push_back(layer);
  }
  // The ends: what the first and last stage take beyond the middle one.
  for (std::size_t i = 0; i < kGroupSplits; ++i) {
    if (const auto found = probe.costs(blocks.front(), static_cast<GroupSplit>(i), costs.calls)) {
      costs.embedding[i] = std::max(found->first - found->middle, Seconds());
      costs.head[i] = std::max(found->last - found->middle, Seconds());
    }
  }
  const bool sp = problem.job.layout.sp && tp > 1;
  for (std::size_t from = 0; from < kGroupSplits; ++from) {
    for (std::size_t into = 0; into < kGroupSplits; ++into) {
      costs.resend[from][into] =
          resend_time(held_after(static_cast<GroupSplit>(from), sp),
                      held_after(static_cast<GroupSplit>(into), sp), problem, tp);
    }
  }
  return costs;
}

RunContent run_content(const describe::Model& model, std::int64_t first, std::int64_t last) {
  RunContent content;
  content.blocks.assign(model.blocks.size(), 0);
  content.embedding = first == 0;
  content.head = last == model.layer_count();
  content.first = model.layers[static_cast<std::size_t>(first)];
  content.last = model.layers[static_cast<std::size_t>(last - 1)];
  for (std::int64_t i = first; i < last; ++i) {
    const int block = model.layers[static_cast<std::size_t>(i)];
    ++content.blocks[static_cast<std::size_t>(block)];
    if (i > first) {
      ++content.follows[{model.layers[static_cast<std::size_t>(i - 1)], block}];
    }
  }
  return content;
}

}  // namespace sextant::search
