#include <algorithm>

#include "base/integers.h"
#include "base/text.h"
#include "emit/canonical.h"
#include "emit/megatron_meaning.h"

namespace sextant::emit {
namespace {

using describe::Axis;
using describe::CpMethod;
using describe::Layout;
using describe::Overlap;
using describe::Zero;

constexpr std::array<describe::Word<CpMethod>, 4> kCpWords{{{CpMethod::kP2pRing, "p2p"},
                                                            {CpMethod::kAllGather, "allgather"},
                                                            {CpMethod::kAllToAll, "a2a"},
                                                            {CpMethod::kAllToAllP2p, "a2a+p2p"}}};
constexpr std::array<describe::Word<Zero>, 4> kShardingWords{
    {{Zero::kNone, "no_shard"},
     {Zero::kOptimizer, "optim"},
     {Zero::kGradients, "optim_grads"},
     {Zero::kParameters, "optim_grads_params"}}};

constexpr std::array<Axis, 5> kUsualOrder{Axis::kTp, Axis::kCp, Axis::kEp, Axis::kDp, Axis::kPp};
constexpr std::array<Axis, 5> kPipelineInside{Axis::kTp, Axis::kCp, Axis::kEp, Axis::kPp,
                                              Axis::kDp};

std::int64_t size_argument(ArgumentReader& in, std::string_view field, std::string_view name) {
  in.field(field);
  return in.number(name, 1, describe::kMostDevices).value_or(1);
}

void read_context(ArgumentReader& in, Reading& reading) {
  Layout& layout = reading.layout;
  layout.cp = size_argument(in, "cp", "context_parallel_size");
  if (layout.cp == 1) {
    return;
  }
  in.field("cp_method");
  // One for all layers, or one a layer: the job has a single method.
  const std::vector<std::string> methods = in.words("cp_comm_type");
  if (!methods.empty()) {
    const auto method =
        describe::parse_word<CpMethod>(kCpWords, methods.front(), "cp_comm_type", {});
    const bool same = std::all_of(methods.begin(), methods.end(),
                                  [&](const std::string& one) { return one == methods.front(); });
    if (method && same) {
      layout.cp_method = *method;
    } else {
      in.unresolved("cp_comm_type", same ? "it is none of p2p, a2a, allgather, a2a+p2p"
                                         : "layers exchange keys and values in different ways");
    }
  }
  if (layout.cp_method != CpMethod::kAllToAllP2p) {
    return;
  }
  in.field("cp_inner");
  const std::vector<std::string> sizes = in.words("hierarchical_context_parallel_sizes");
  const auto inner = sizes.empty() ? std::nullopt : to_integer(sizes.front());
  if (!inner || *inner < 1 || *inner > layout.cp) {
    in.unresolved("hierarchical_context_parallel_sizes",
                  "a2a+p2p needs the sizes of its two levels");
  } else if (!reading.model || *inner != usual_cp_inner(*reading.model, layout)) {
    layout.cp_inner = *inner;
  }
}

void read_experts(ArgumentReader& in, Reading& reading) {
  Layout& layout = reading.layout;
  // Of a model that the files do not describe, who spreads experts has some.
  const bool experts =
      in.has("num_experts") || (reading.model ? describe::has_experts(*reading.model)
                                              : in.has("expert_model_parallel_size"));
  if (!experts) {
    return;
  }
  layout.ep = size_argument(in, "ep", "expert_model_parallel_size");
  in.field("etp");
  layout.etp =
      in.number("expert_tensor_parallel_size", 1, describe::kMostDevices).value_or(layout.tp);
}

void read_sharding(ArgumentReader& in, Reading& reading) {
  Layout& layout = reading.layout;
  in.field("zero");
  const bool bridge = in.program() == Megatron::kBridge;
  layout.zero = in.flag("use_distributed_optimizer", bridge) ? Zero::kOptimizer : Zero::kNone;
  if (in.flag("use_megatron_fsdp", false)) {
    layout.zero = Zero::kParameters;
    if (const auto word = in.word("data_parallel_sharding_strategy")) {
      const auto zero = describe::parse_word<Zero>(kShardingWords, *word, "strategy", {});
      if (zero) {
        layout.zero = *zero;
      } else {
        in.unresolved("data_parallel_sharding_strategy",
                      "it is none of no_shard, optim, optim_grads, optim_grads_params");
      }
    }
  }
  if (in.flag("use_torch_fsdp2", false)) {
    layout.zero = Zero::kParameters;
    in.field("reshard");
    layout.reshard_after_forward = in.flag("torch_fsdp2_reshard_after_forward", true);
  }
  if (layout.zero == Zero::kNone) {
    return;
  }
  in.field("zero_group");
  const std::int64_t instances =
      in.number("num_distributed_optimizer_instances", 1, describe::kMostDevices).value_or(1);
  const std::int64_t ranks = saturating_product({layout.dp, layout.cp});
  if (instances > 1 && (ranks == 0 || ranks % instances != 0)) {
    in.unresolved("num_distributed_optimizer_instances",
                  ranks == 0 ? "the number of devices is not known"
                             : "it does not divide the data-parallel ranks");
  } else if (instances > 1) {
    layout.zero_group = ranks / instances;
  }
}

void read_overlap(ArgumentReader& in, Layout& layout) {
  in.field("overlap");
  const bool bridge = in.program() == Megatron::kBridge;
  // The interleaved schedule sends while it computes unless told not to; the plain one never does.
  const bool pipeline = in.flag("overlap_p2p_comm", true) && layout.vpp > 1;
  const std::array asked{
      std::pair{Overlap::kGradReduce, in.flag("overlap_grad_reduce", bridge)},
      std::pair{Overlap::kParamGather, in.flag("overlap_param_gather", bridge)},
      std::pair{Overlap::kTensorParallel, in.flag("tp_comm_overlap", false) && layout.tp > 1},
      std::pair{Overlap::kPipeline, pipeline},
      std::pair{Overlap::kExpert,
                in.flag("overlap_moe_expert_parallel_comm", false) && layout.ep > 1}};
  layout.overlap.clear();
  for (const auto& [what, on] : asked) {
    if (on) {
      layout.overlap.push_back(what);
    }
  }
  const std::int64_t ranks = saturating_product({layout.dp, layout.cp});
  std::erase_if(layout.overlap, [&](Overlap what) {
    return (what == Overlap::kGradReduce && ranks == 1) ||
           (what == Overlap::kParamGather && (ranks == 1 || layout.zero == Zero::kNone));
  });
}

void write_sharding(const describe::Job& job, ArgumentWriter& out) {
  const Layout& layout = job.layout;
  const bool fsdp = layout.zero == Zero::kGradients || layout.zero == Zero::kParameters;
  out.flag("use_distributed_optimizer", layout.zero != Zero::kNone);
  out.flag("use_megatron_fsdp", fsdp);
  if (fsdp) {
    out.word("data_parallel_sharding_strategy",
             describe::word_of<Zero>(kShardingWords, layout.zero));
    out.word("ckpt_format", "fsdp_dtensor");
  }
  const std::int64_t ranks = saturating_product({job.dp(), layout.cp});
  if (layout.zero != Zero::kNone && layout.zero_group > 0 && ranks % layout.zero_group == 0) {
    out.number("num_distributed_optimizer_instances", ranks / layout.zero_group);
  }
}

void write_context(const describe::Job& job, ArgumentWriter& out) {
  const Layout& layout = job.layout;
  out.number("context_parallel_size", layout.cp);
  if (layout.cp == 1) {
    return;
  }
  out.word("cp_comm_type", describe::word_of<CpMethod>(kCpWords, layout.cp_method));
  if (layout.cp_method == CpMethod::kAllToAllP2p) {
    const std::int64_t usual = std::max<std::int64_t>(usual_cp_inner(job.model, layout), 1);
    const std::int64_t inner = layout.cp_inner > 0 ? layout.cp_inner : usual;
    out.words("hierarchical_context_parallel_sizes",
              {std::to_string(inner), std::to_string(layout.cp / inner)});
  }
}

}  // namespace

void write_axes(const describe::Job& job, ArgumentWriter& out) {
  const Layout& layout = job.layout;
  out.number("tensor_model_parallel_size", layout.tp);
  out.flag("sequence_parallel", layout.sp);
  write_context(job, out);
  write_pipeline(job, out);
  if (describe::has_experts(job.model)) {
    out.number("expert_model_parallel_size", layout.ep);
    out.number("expert_tensor_parallel_size", layout.etp);
  }
  out.flag("use_tp_pp_dp_mapping", layout.order == kPipelineInside);
  write_sharding(job, out);
  out.number("micro_batch_size", layout.mbs);
  out.flag("overlap_grad_reduce", layout.overlaps(Overlap::kGradReduce));
  out.flag("overlap_param_gather", layout.overlaps(Overlap::kParamGather));
  out.flag("tp_comm_overlap", layout.overlaps(Overlap::kTensorParallel));
  if (layout.vpp > 1) {
    out.flag("overlap_p2p_comm", layout.overlaps(Overlap::kPipeline));
  }
  if (describe::has_experts(job.model)) {
    out.flag("overlap_moe_expert_parallel_comm", layout.overlaps(Overlap::kExpert));
  }
}

void read_axes(ArgumentReader& in, Reading& reading) {
  Layout& layout = reading.layout;
  layout.tp = size_argument(in, "tp", "tensor_model_parallel_size");
  in.field("sp");
  // Megatron switches it off by itself where there is no tensor parallelism.
  layout.sp = in.flag("sequence_parallel", false) && layout.tp > 1;
  read_context(in, reading);
  read_pipeline(in, reading);
  read_experts(in, reading);
  const std::int64_t model_ranks =
      std::max<std::int64_t>(saturating_product({layout.tp, layout.cp, layout.pp}), 1);
  layout.dp = 0;
  if (reading.devices && *reading.devices % model_ranks == 0) {
    layout.dp = *reading.devices / model_ranks;
  }
  in.field("order");
  layout.order = in.flag("use_tp_pp_dp_mapping", false) ? kPipelineInside : kUsualOrder;
  read_sharding(in, reading);
  layout.mbs = size_argument(in, "mbs", "micro_batch_size");
  read_overlap(in, layout);
}

}  // namespace sextant::emit
