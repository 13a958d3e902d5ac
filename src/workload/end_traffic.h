// The model's two ends: embedding, head and loss, multi-token prediction.
//
// Loss: Megatron splits the vocabulary and reduces three numbers a token in fp32 (largest logit,
// the target's logit, sum of exponentials), the last two at once where the kernel is fused;
// TransformerEngine's kernel gathers the three; the DTensor plan measured here gathers the logits.
// Source: Megatron-LM d98e8a64, core/tensor_parallel/cross_entropy.py, core/fusions/
// fused_cross_entropy.py; TransformerEngine 2.x, pytorch/triton/cross_entropy.py.
#pragma once

#include "workload/layer_traffic.h"

namespace sextant::workload {

template <class Sink>
void embedding_forward(const Scene& at, std::int64_t count, Sink& sink) {
  sink.reach(Part::kEmbedding);
  leave_forward(at, kEmbeddingWords, count, Phase::kForward, sink);
}

template <class Sink>
void embedding_backward(const Scene& at, std::int64_t count, Sink& sink) {
  leave_backward(at, kEmbeddingWords, count, sink);
  sink.reach(Part::kEmbedding);
}

template <class Sink>
void loss_forward(const Scene& at, std::int64_t count, Sink& sink) {
  constexpr Format kFloat{"float32", 4};
  Call call = tensor_call(at, "logits", count, Phase::kForward);
  if (at.tensor == TensorDialect::kDTensor) {
    all_gather(sink, call,
               activation_bytes(at, at.shard.tokens, divided_up(at.shard.vocab, at.shard.tp)));
    return;
  }
  call.format = kFloat;
  call.hides = Hides::kNothing;
  const std::int64_t bytes = capped(at.shard.tokens, kFloat.bytes);
  const describe::LossKernel kernel =
      at.tensor == TensorDialect::kXla ? describe::LossKernel::kPlain : at.layout.loss;
  if (kernel == describe::LossKernel::kInPlace) {
    call.what = "numbers of the loss";
    all_gather(sink, call, capped(bytes, 3));
    return;
  }
  call.what = "largest logit";
  all_reduce(sink, call, bytes);
  const bool fused = kernel == describe::LossKernel::kFused;
  call.what = fused ? "target's logit and sum of exponentials" : "target's logit";
  all_reduce(sink, call, fused ? capped(bytes, 2) : bytes);
  if (!fused) {
    call.what = "sum of exponentials";
    all_reduce(sink, call, bytes);
  }
}

template <class Sink>
void head_forward(const Scene& at, std::int64_t count, Sink& sink) {
  sink.reach(Part::kFinalNorm);
  enter_forward(at, kHeadWords, {at.model.hidden, 1}, count, Phase::kForward, sink);
  sink.reach(Part::kHead);
  loss_forward(at, count, sink);
  sink.reach(Part::kLoss);
}

template <class Sink>
void head_backward(const Scene& at, std::int64_t count, Sink& sink) {
  sink.reach(Part::kLoss);
  sink.reach(Part::kHead);
  enter_backward(at, kHeadWords, {at.model.hidden, 1}, count, sink);
  sink.reach(Part::kFinalNorm);
}

// A depth of multi-token prediction looks its tokens up again, projects 2H to H column-parallel,
// gathers the projection's output, and ends in a block, head and loss of the usual kind: what
// follows is the projection alone. Source: Megatron-LM d98e8a64,
// core/transformer/multi_token_prediction.py.
template <class Sink>
void projection_forward(const Scene& at, std::int64_t count, Phase phase, Sink& sink) {
  const std::int64_t width = at.model.hidden;
  enter_forward(at, kMtpWords, {2 * width, 1}, count, phase, sink);
  sink.reach(Part::kMtp);
  all_gather(sink, tensor_call(at, kMtpWords.output, count, phase),
             activation_bytes(at, at.shard.tokens, divided_up(width, at.shard.tp)));
}

template <class Sink>
void projection_backward(const Scene& at, std::int64_t count, Sink& sink) {
  const std::int64_t width = at.model.hidden;
  leave_backward(at, kMtpWords, count, sink);
  sink.reach(Part::kMtp);
  reduce_scatter(sink, tensor_call(at, kMtpWords.output_gradient, count, Phase::kBackward),
                 activation_bytes(at, at.shard.tokens, divided_up(width, at.shard.tp)));
  enter_backward(at, kMtpWords, {2 * width, 1}, count, sink);
}

}  // namespace sextant::workload
