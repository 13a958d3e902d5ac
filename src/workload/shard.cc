#include "workload/shard.h"

#include <algorithm>

#include "base/integers.h"
#include "describe/layout/pipeline_split.h"

namespace sextant::workload {

using describe::Layout;

Shard shard_of(const describe::Job& job, const Layout& layout) {
  Shard shard;
  shard.framework = job.framework;
  shard.tp = layout.tp;
  shard.sp = layout.sp && layout.tp > 1;
  shard.cp = layout.cp;
  shard.pp = layout.pp;
  shard.vpp = layout.vpp;
  const std::int64_t model_ranks = saturating_product({layout.tp, layout.cp, layout.pp});
  shard.dp =
      layout.dp > 0 ? layout.dp : std::max<std::int64_t>(job.cluster.devices / model_ranks, 1);
  shard.ep = layout.ep;
  shard.etp = layout.etp;
  const std::int64_t stage_ranks = saturating_product({layout.tp, layout.cp, shard.dp});
  shard.expert_dp = std::max<std::int64_t>(stage_ranks / (layout.etp * layout.ep), 1);
  const std::int64_t dense_group = shard.dp * shard.cp;
  const bool sharded = layout.zero != describe::Zero::kNone;
  shard.zero_shards =
      sharded ? (layout.zero_group > 0 ? std::min(layout.zero_group, dense_group) : dense_group)
              : 1;
  shard.replicas = dense_group / shard.zero_shards;
  shard.expert_shards =
      sharded ? std::max<std::int64_t>(shard.expert_dp / (sharded ? shard.replicas : 1), 1) : 1;
  shard.mbs = layout.mbs;
  shard.microbatches =
      std::max<std::int64_t>(divided_up(job.global_batch / shard.dp, layout.mbs), 1);
  shard.sequence = job.sequences.kind == describe::Sequences::Kind::kVariable
                       ? static_cast<std::int64_t>(job.sequences.mean_length())
                       : job.sequences.length;
  shard.local_sequence = divided_up(shard.sequence, shard.cp);
  shard.tokens = saturating_product({shard.mbs, shard.local_sequence});
  shard.region_tokens = shard.sp ? divided_up(shard.tokens, shard.tp) : shard.tokens;
  shard.causal_keys = 0.5 * job.sequences.attention_length();
  shard.vocab = describe::padded_vocab(job.model.vocab, layout.tp, job.framework);
  shard.activation_bytes = bytes_of(layout.precision) >= 4.0 ? 4 : 2;
  return shard;
}

}  // namespace sextant::workload
