#include "describe/model/hf_blocks.h"

#include <optional>
#include <string>

#include <fmt/format.h>

namespace sextant::describe {
namespace {

Result<std::int64_t> head_size(HfFields& fields, std::int64_t hidden, std::int64_t heads) {
  SEXTANT_TRY(const std::optional<std::int64_t> stated,
              fields.optional_integer("head_dim", kSizes));
  if (stated) {
    return *stated;
  }
  if (hidden % heads != 0) {
    return invalid(fmt::format("{} attention heads do not divide hidden_size {}", heads, hidden),
                   fields.where("num_attention_heads"), "a divisor of hidden_size, or head_dim");
  }
  return hidden / heads;
}

// Source: transformers models/falcon/modeling_falcon.py: num_kv_heads counts only in the new
// architecture; the old one has one key-value head or as many as queries.
Result<std::int64_t> falcon_kv_heads(HfFields& fields, std::int64_t heads) {
  SEXTANT_TRY(const bool recent, fields.flag("new_decoder_architecture"));
  if (recent) {
    return fields.integer_or("num_key_value_heads", kSizes, heads);
  }
  SEXTANT_TRY(const bool one, fields.flag("multi_query"));
  return one ? 1 : heads;
}

Result<std::int64_t> local_window(HfFields& fields, const HfFamily& family) {
  if (family.window == HfWindow::kChunked) {
    return fields.integer("attention_chunk_size", kSizes);
  }
  return fields.integer(family.window == HfWindow::kGptNeo ? "window_size" : "sliding_window",
                        kSizes);
}

Result<Attention> attention_of(HfFields& fields, const HfFamily& family, const LayerPlan& plan,
                               std::int64_t hidden) {
  Attention attention;
  SEXTANT_TRY(attention.heads, fields.integer("num_attention_heads", kSizes));
  SEXTANT_TRY(attention.kv_heads,
              family.class_name == "FalconConfig"
                  ? falcon_kv_heads(fields, attention.heads)
                  : fields.integer_or("num_key_value_heads", kSizes, attention.heads));
  if (attention.heads % attention.kv_heads != 0) {
    return invalid(fmt::format("{} key-value heads do not divide {} attention heads",
                               attention.kv_heads, attention.heads),
                   fields.where("num_key_value_heads"), "a divisor of num_attention_heads");
  }
  SEXTANT_TRY(attention.head_dim, head_size(fields, hidden, attention.heads));
  if (plan.mixer == MixerKind::kLocalAttention) {
    SEXTANT_TRY(attention.window, local_window(fields, family));
  }
  SEXTANT_TRY(attention.qkv_bias, fields.flag(family.qkv_bias));
  SEXTANT_TRY(attention.output_bias, fields.flag(family.output_bias));
  SEXTANT_TRY(attention.output_gate, fields.flag(family.output_gate));
  SEXTANT_TRY(const bool normed, fields.flag(family.qk_norm_when));
  attention.qk_norm = normed ? family.qk_norm : QkNorm::kNone;
  attention.sinks = family.sinks;
  attention.rotary = plan.rotary;
  return attention;
}

Result<LatentAttention> latent_attention_of(HfFields& fields) {
  LatentAttention attention;
  SEXTANT_TRY(attention.heads, fields.integer("num_attention_heads", kSizes));
  SEXTANT_TRY(attention.q_lora_rank, fields.integer_or("q_lora_rank", kSizesOrNone, 0));
  SEXTANT_TRY(attention.kv_lora_rank, fields.integer("kv_lora_rank", kSizes));
  SEXTANT_TRY(attention.qk_nope_head_dim, fields.integer("qk_nope_head_dim", kSizes));
  SEXTANT_TRY(attention.qk_rope_head_dim, fields.integer("qk_rope_head_dim", kSizes));
  SEXTANT_TRY(attention.v_head_dim, fields.integer("v_head_dim", kSizes));
  SEXTANT_TRY(const bool bias, fields.flag("attention_bias"));
  if (bias) {
    fields.assume(
        {"attention_bias", "left out", "latent attention is described without biases", {}});
  }
  SEXTANT_TRY(attention.indexer.heads, fields.integer_or("index_n_heads", kSizesOrNone, 0));
  if (attention.indexer.heads > 0) {
    SEXTANT_TRY(attention.indexer.head_dim, fields.integer("index_head_dim", kSizes));
    SEXTANT_TRY(attention.indexer.topk, fields.integer("index_topk", kSizes));
    if (fields.stated("indexer_types")) {
      fields.assume(
          {"indexer_types", "left out", "each layer is described with its own indexer", {}});
    }
  }
  return attention;
}

// mamba_head_dim may be "auto": expand × hidden_size over the heads.
Result<std::int64_t> mamba_head_size(HfFields& fields, std::int64_t hidden, std::int64_t heads) {
  const auto stated = fields.find("mamba_head_dim");
  if (stated && stated->kind() != JsonValue::Kind::kString) {
    return stated->integer(kSizes.least, kSizes.most);
  }
  SEXTANT_TRY(const std::int64_t expand, fields.integer_or("expand", {1, 64}, 2));
  if (expand * hidden % heads != 0) {
    return invalid(
        fmt::format("{} Mamba heads do not divide {} × hidden_size {}", heads, expand, hidden),
        fields.where("mamba_num_heads"), "a divisor, or mamba_head_dim");
  }
  return expand * hidden / heads;
}

Result<Mamba2> mamba_of(HfFields& fields, std::int64_t hidden) {
  Mamba2 mamba;
  SEXTANT_TRY(mamba.heads, fields.integer("mamba_num_heads", kSizes));
  SEXTANT_TRY(mamba.head_dim, mamba_head_size(fields, hidden, mamba.heads));
  SEXTANT_TRY(mamba.groups, fields.integer("n_groups", kSizes));
  SEXTANT_TRY(mamba.state, fields.integer("ssm_state_size", kSizes));
  SEXTANT_TRY(mamba.conv_kernel, fields.integer("conv_kernel", kSizes));
  SEXTANT_TRY(mamba.chunk, fields.integer("chunk_size", kSizes));
  SEXTANT_TRY(mamba.conv_bias, fields.flag("use_conv_bias"));
  SEXTANT_TRY(mamba.projection_bias, fields.flag("mamba_proj_bias"));
  return mamba;
}

Result<GatedDeltaNet> delta_net_of(HfFields& fields) {
  GatedDeltaNet net;
  SEXTANT_TRY(net.key_heads, fields.integer("linear_num_key_heads", kSizes));
  SEXTANT_TRY(net.value_heads, fields.integer("linear_num_value_heads", kSizes));
  SEXTANT_TRY(net.key_head_dim, fields.integer("linear_key_head_dim", kSizes));
  SEXTANT_TRY(net.value_head_dim, fields.integer("linear_value_head_dim", kSizes));
  SEXTANT_TRY(net.conv_kernel, fields.integer("linear_conv_kernel_dim", kSizes));
  return net;
}

Result<Mixer> mixer_of(HfFields& fields, const HfFamily& family, const LayerPlan& plan,
                       std::int64_t hidden) {
  switch (plan.mixer) {
    case MixerKind::kNone:
      return Mixer();
    case MixerKind::kMamba:
      return mamba_of(fields, hidden);
    case MixerKind::kDeltaNet:
      return delta_net_of(fields);
    case MixerKind::kFullAttention:
    case MixerKind::kLocalAttention:
      break;
  }
  if (family.mixer == HfMixer::kLatent) {
    return latent_attention_of(fields);
  }
  return attention_of(fields, family, plan, hidden);
}

Result<DenseFfn> dense_of(HfFields& fields, const HfFamily& family, std::int64_t hidden) {
  DenseFfn ffn;
  SEXTANT_TRY(const auto width, fields.optional_integer(family.dense_width, kSizes));
  if (width) {
    ffn.width = *width;
  } else if (!family.gated) {
    ffn.width = 4 * hidden;
    fields.assume({family.dense_width, std::to_string(ffn.width), "4 × hidden_size", {}});
  } else {
    SEXTANT_TRY(ffn.width, fields.integer(family.dense_width, kSizes));
  }
  ffn.gated = family.gated;
  SEXTANT_TRY(ffn.bias, fields.flag(family.mlp_bias));
  return ffn;
}

Result<std::int64_t> shared_width(HfFields& fields, const HfFamily& family, std::int64_t width) {
  switch (family.shared) {
    case HfShared::kNone:
      return 0;
    case HfShared::kOne:
      return width;
    case HfShared::kWidth:
      return fields.integer_or("shared_expert_intermediate_size", kSizesOrNone, 0);
    case HfShared::kCount:
      break;
  }
  SEXTANT_TRY(const std::int64_t count, fields.integer_or("n_shared_experts", kExpertCounts, 0));
  return count * width;
}

Result<MoeFfn> experts_of(HfFields& fields, const HfFamily& family) {
  MoeFfn ffn;
  SEXTANT_TRY(ffn.experts, fields.integer("num_experts", kExpertCounts));
  SEXTANT_TRY(ffn.topk, fields.integer("num_experts_per_tok", {1, kExpertCounts.most}));
  if (ffn.topk > ffn.experts) {
    return invalid(fmt::format("a token goes to {} of {} experts", ffn.topk, ffn.experts),
                   fields.where("num_experts_per_tok"), "at most the number of experts");
  }
  SEXTANT_TRY(ffn.width, fields.integer(family.expert_width, kSizes));
  SEXTANT_TRY(ffn.shared_width, shared_width(fields, family, ffn.width));
  SEXTANT_TRY(ffn.latent_width, fields.integer_or("moe_latent_size", kSizesOrNone, 0));
  SEXTANT_TRY(ffn.groups, fields.integer_or("n_group", kExpertCounts, 0));
  SEXTANT_TRY(ffn.topk_groups, fields.integer_or("topk_group", kExpertCounts, 0));
  ffn.gated = family.gated;
  ffn.expert_bias = family.expert_bias;
  ffn.router_bias = family.router_bias;
  ffn.correction_bias = family.correction_bias;
  ffn.shared_gate = family.shared_gate && ffn.shared_width > 0;
  return ffn;
}

Result<Ffn> ffn_of(HfFields& fields, const HfFamily& family, const LayerPlan& plan,
                   std::int64_t hidden) {
  switch (plan.ffn) {
    case FfnKind::kNone:
      return Ffn();
    case FfnKind::kDense:
      return dense_of(fields, family, hidden);
    case FfnKind::kExperts:
      break;
  }
  return experts_of(fields, family);
}

// Source: transformers models/falcon/modeling_falcon.py: one norm where attention and feed-forward
// read the same input, unless the new architecture gives each its own.
Result<int> falcon_norms(HfFields& fields, bool parallel) {
  SEXTANT_TRY(const bool recent, fields.flag("new_decoder_architecture"));
  if (recent) {
    SEXTANT_TRY(const std::int64_t norms, fields.integer_or("num_ln_in_parallel_attn", {1, 2}, 2));
    return static_cast<int>(norms);
  }
  return parallel ? 1 : 2;
}

}  // namespace

Result<Block> block_of(HfFields& fields, const HfFamily& family, const LayerPlan& plan,
                       std::int64_t hidden) {
  Block block;
  SEXTANT_TRY(block.mixer, mixer_of(fields, family, plan, hidden));
  SEXTANT_TRY(block.ffn, ffn_of(fields, family, plan, hidden));
  SEXTANT_TRY(block.parallel_residual, fields.flag(family.parallel));
  block.norms = family.norms;
  if (family.layers == HfLayers::kBlocks && plan.mixer != MixerKind::kNone &&
      plan.ffn != FfnKind::kNone) {
    block.norms = 2 * family.norms;
  }
  if (block.parallel_residual && family.norms_when_parallel) {
    block.norms = *family.norms_when_parallel;
  }
  if (family.class_name == "FalconConfig") {
    SEXTANT_TRY(block.norms, falcon_norms(fields, block.parallel_residual));
  }
  return block;
}

}  // namespace sextant::describe
