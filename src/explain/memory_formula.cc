#include "explain/memory_formula.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "cost/memory/weight_buffers.h"
#include "workload/recompute.h"

namespace sextant::explain {
namespace {

using cost::MemoryDetail;
using cost::MemoryItem;
using cost::MemoryMoment;
using describe::Recompute;
using describe::Storage;
using sextant::to_text;
using workload::Dialect;

MemoryMoment moment_of(const MemoryAnswer& answer) {
  return answer.ranks[answer.fullest].fullest;
}

std::string_view word(Storage storage) {
  return describe::word_of<Storage>(describe::kStorageWords, storage);
}

std::string_view word(describe::Precision precision) {
  return describe::word_of<describe::Precision>(describe::kPrecisionWords, precision);
}

std::string millions(double parameters) {
  return fmt::format("{:.6g} M", parameters / 1e6);
}

bool trains_all(const describe::Job& job) {
  return !job.lora && job.workload != describe::Workload::kForward;
}

// Megatron's modules add gradients to the buffer in place.
bool adds_in_place(const MemoryDetail& detail) {
  return detail.rules.dialect == Dialect::kMegatron || detail.rules.dialect == Dialect::kLegacy;
}

std::string autocast_copies(const MemoryAnswer& answer) {
  const describe::Layout& layout = answer.job.layout;
  const std::string_view format = word(layout.precision);
  if (moment_of(answer) == MemoryMoment::kForward) {
    return fmt::format("{} copies of every weight but the embedding, in autocast's cache", format);
  }
  return layout.recompute.granularity == Recompute::kFull
             ? fmt::format("{} copy of the head, kept for backward", format)
             : fmt::format("{} copies of the layers' weights and the head, kept for backward",
                           format);
}

std::string weight_copies(const MemoryAnswer& answer, const MemoryDetail& detail) {
  if (detail.rules.autocast) {
    return autocast_copies(answer);
  }
  std::vector<std::string> parts;
  const int copies = cost::quantised_copies(answer.job, answer.job.layout);
  if (copies > 0) {
    parts.push_back(fmt::format("{} {} {} of the layers' weights", copies,
                                word(answer.job.layout.precision),
                                copies == 1 ? "copy" : "copies"));
  }
  if (trains_all(answer.job)) {
    parts.push_back(fmt::format(
        "a placeholder gradient for each weight shape of a layer, {} x {} B",
        millions(static_cast<double>(detail.largest_layer.dense)), detail.rules.element));
  }
  return join(parts, " + ");
}

std::string fetched_text(const MemoryAnswer& answer, const MemoryDetail& detail) {
  return fmt::format(
      "{} of {}", cost::fetches_by_matrix(answer.job.framework) ? "matrix" : "layer",
      millions(cost::fetched_parameters(answer.job.framework, detail.largest_layer)));
}

std::string gathered_text(const MemoryAnswer& answer, const MemoryDetail& detail) {
  std::int64_t root = 0;
  for (const cost::StageDetail& stage : detail.stages) {
    root += (stage.stage.embedding ? detail.embedding.dense : 0) +
            (stage.stage.head ? detail.head.dense : 0);
  }
  const MemoryMoment moment = moment_of(answer);
  std::string layers;
  if (!answer.job.layout.reshard_after_forward) {
    layers = " + all layers";
  } else if (moment != MemoryMoment::kLoss) {
    layers = fmt::format(" + {} x a {}", moment == MemoryMoment::kForward ? 1 : 2,
                         fetched_text(answer, detail));
  }
  return fmt::format("({} of embedding and head{}) x {} B", millions(static_cast<double>(root)),
                     layers, detail.rules.element);
}

std::string gradient_buffers(const MemoryAnswer& answer, const MemoryDetail& detail) {
  const describe::Job& job = answer.job;
  const MemoryMoment moment = moment_of(answer);
  const double element = detail.rules.element;
  std::vector<std::string> parts;
  if ((job.framework == describe::Framework::kDeepspeed ||
       job.framework == describe::Framework::kMegatronDeepspeed) &&
      trains_all(job)) {
    parts.push_back(fmt::format("a bucket of at most {} elements x {} B",
                                millions(cost::kBucketElements), element));
    parts.push_back(job.layout.gradients == Storage::kFp32
                        ? fmt::format("a gradient of {} B for every parameter", element)
                        : "an fp32 gradient for every parameter of the own shard");
  }
  if (moment == MemoryMoment::kLoss && adds_in_place(detail) && !job.lora) {
    parts.push_back(fmt::format("the head's gradient before it joins the buffer, {} x {} x {} B",
                                workload::divided_up(detail.shard.vocab, detail.shard.tp),
                                job.model.hidden, element));
  }
  if (job.layout.zero == describe::Zero::kParameters && detail.shard.zero_shards > 1 &&
      (moment == MemoryMoment::kBackward || moment == MemoryMoment::kUpdate)) {
    parts.push_back(fmt::format("a {} x ({} B of gradients + {} B in the reduction's input)",
                                fetched_text(answer, detail), element,
                                workload::bytes_of(job.layout.gradients)));
  }
  return join(parts, " + ");
}

std::string recomputed(const describe::RecomputePolicy& policy) {
  if (policy.granularity == Recompute::kFull) {
    const bool uniform = policy.method == describe::RecomputeMethod::kUniform;
    const std::int64_t layers = std::max<std::int64_t>(uniform ? policy.layers : 1, 1);
    return fmt::format("all that {} layer{} keep{} without recomputation", layers,
                       layers == 1 ? "" : "s", layers == 1 ? "s" : "");
  }
  return workload::skips_layers(policy) ? "all that one layer keeps without recomputation"
                                        : "what the policy drops of one layer";
}

std::string backward_temporaries(const MemoryAnswer& answer, const MemoryDetail& detail) {
  const workload::Shard& shard = detail.shard;
  if (moment_of(answer) == MemoryMoment::kLoss) {
    return fmt::format(
        "({} x {} tokens + 2 x {}) x {} x {} B: gradient of the head's input{}, residual stream "
        "around the final norm",
        shard.sp ? 2 : 1, shard.tokens, shard.region_tokens, answer.job.model.hidden,
        detail.rules.element, shard.sp ? " and that input gathered again" : "");
  }
  const bool experts = detail.largest_layer.experts > 0;
  return fmt::format(
      "gradients in one layer, {} tokens, {} B an element: {}", shard.tokens, detail.rules.element,
      experts ? "of the experts' first product and two hidden states for each token copy, and of "
                "one hidden state a token"
              : "of the first product's output and one hidden state");
}

std::string activations(const describe::Job& job) {
  if (job.workload == describe::Workload::kForward) {
    return "of one layer: nothing is kept for a backward";
  }
  return job.layout.activation_offload ? "of two layers at a time, the others on the host"
                                       : "kept by every layer for each microbatch in flight";
}

// ", over 64 shards"; nothing where nothing is spread.
std::string over_shards(const MemoryDetail& detail) {
  const std::int64_t dense = detail.shard.zero_shards;
  const std::int64_t experts = detail.shard.expert_shards;
  if (detail.largest_layer.experts > 0 && experts != dense) {
    return fmt::format(", over {} shards, experts over {}", dense, experts);
  }
  return dense > 1 ? fmt::format(", over {} shards", dense) : "";
}

std::string states(MemoryItem item, const describe::Layout& layout, const std::string& over) {
  const bool sharded = layout.zero == describe::Zero::kParameters;
  if (item == MemoryItem::kParameters) {
    return fmt::format("parameters of the rank in {}{}", word(layout.parameters),
                       sharded ? over : "");
  }
  if (item == MemoryItem::kGradients) {
    // FSDP keeps the sharded gradient in its parameter's format.
    return fmt::format("one a trained parameter, {}{}",
                       word(sharded ? layout.parameters : layout.gradients),
                       layout.zero >= describe::Zero::kGradients ? over : "");
  }
  if (item == MemoryItem::kMaster) {
    return fmt::format("{} copy{}", word(layout.optimizer.master), over);
  }
  return fmt::format("{} and {}{}", word(layout.optimizer.first_moment),
                     word(layout.optimizer.second_moment), over);
}

std::string logits(const describe::Layout& layout, const workload::Shard& shard) {
  return fmt::format(
      "{} tokens x {} vocabulary entries of the rank, loss={}", shard.tokens,
      workload::divided_up(shard.vocab, shard.tp),
      describe::word_of<describe::LossKernel>(describe::kLossKernelWords, layout.loss));
}

}  // namespace

std::string memory_formula(MemoryItem item, const MemoryAnswer& answer,
                           const MemoryDetail& detail) {
  const describe::Layout& layout = answer.job.layout;
  switch (item) {
    case MemoryItem::kParameters:
    case MemoryItem::kGradients:
    case MemoryItem::kMaster:
    case MemoryItem::kMoments:
      return states(item, layout, over_shards(detail));
    case MemoryItem::kWeightCopies:
      return weight_copies(answer, detail);
    case MemoryItem::kGathered:
      return gathered_text(answer, detail);
    case MemoryItem::kGradientBuffers:
      return gradient_buffers(answer, detail);
    case MemoryItem::kActivations:
      return activations(answer.job);
    case MemoryItem::kCheckpoints:
      return fmt::format("a layer's input of {} each", to_text(detail.checkpoint));
    case MemoryItem::kRecomputed:
      return recomputed(layout.recompute);
    case MemoryItem::kLogits:
    case MemoryItem::kLossTemporaries:
      return logits(layout, detail.shard);
    case MemoryItem::kBackwardTemporaries:
      return backward_temporaries(answer, detail);
    case MemoryItem::kMessages:
      return fmt::format("2 x a layer's input of {}: one received, one sent",
                         to_text(detail.checkpoint));
    case MemoryItem::kWorkspace:
      return answer.facts.workspace.source;
    case MemoryItem::kRounding:
      return fmt::format("{:.2g} % of the rest: {}", 100.0 * (answer.facts.rounding.value - 1.0),
                         answer.facts.rounding.source);
  }
  return {};
}

}  // namespace sextant::explain
