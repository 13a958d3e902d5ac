// The keys of data/kernels files, once: a visitor is asked with each key and its place, by what the
// value is. ratio: a number ≥ 0; share: one above 0; seconds: a time; count: a whole number. The
// reader (kernel_facts.cc) and the list of keys (kernel_fact_list.cc) are such visitors; each of
// their functions returns the visitor itself.
#pragma once

#include "describe/kernel_facts.h"

namespace sextant::describe {

template <typename Visitor>
void visit_keys(Visitor& visitor, RateFacts& rates) {
  visitor.share("burst", rates.burst).share("sustained", rates.sustained);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, PowerFacts& power) {
  visitor.ratio("watts_per_tflops", power.watts_per_tflops)
      .ratio("exponent", power.exponent)
      .seconds("ramp", power.ramp)
      .ratio("duty_least", power.duty_least)
      .ratio("duty_slope", power.duty_slope);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, ProductFacts& product) {
  visitor.seconds("launch", product.launch)
      .share("small_tile", product.small_tile)
      .ratio("input_gradient", product.input_gradient)
      .ratio("weight_gradient", product.weight_gradient)
      .ratio("exposed_output", product.exposed_output)
      .share("bandwidth", product.bandwidth)
      .seconds("split", product.split)
      .count("split_depth", product.split_depth)
      .seconds("group_launch", product.group_launch);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, AttentionFacts& attention) {
  visitor.share("flash_forward", attention.flash.forward)
      .share("flash_backward", attention.flash.backward)
      .share("cudnn_forward", attention.cudnn.forward)
      .share("cudnn_backward", attention.cudnn.backward)
      .share("flash1", attention.flash1)
      .ratio("limited", attention.limited)
      .ratio("softmax", attention.softmax)
      .ratio("forward_keys", attention.forward_keys)
      .ratio("backward_keys", attention.backward_keys)
      .ratio("tail", attention.tail)
      .count("forward_rows", attention.forward_rows)
      .count("backward_rows", attention.backward_rows)
      .seconds("backward_launch", attention.backward_launch)
      .ratio("masked_forward", attention.masked_forward)
      .ratio("masked_backward", attention.masked_backward)
      .ratio("math_forward", attention.math_forward)
      .ratio("math_backward", attention.math_backward);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, StreamFacts& stream) {
  visitor.seconds("launch", stream.launch)
      .seconds("next_launch", stream.next_launch)
      .share("bandwidth", stream.bandwidth)
      .ratio("move", stream.move)
      .ratio("indexed", stream.indexed)
      .ratio("activation", stream.activation)
      .ratio("norm", stream.norm)
      .ratio("norm_gradient", stream.norm_gradient)
      .ratio("reread", stream.reread)
      .count("kept_columns", stream.kept_columns)
      .ratio("random", stream.random)
      .ratio("loss", stream.loss)
      .ratio("loss_gradient", stream.loss_gradient)
      .ratio("update", stream.update)
      .seconds("update_launch", stream.update_launch)
      .share("scan", stream.scan);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, IssueFacts& issue) {
  visitor.seconds("kernel", issue.kernel)
      .seconds("elementwise", issue.elementwise)
      .seconds("norm", issue.norm)
      .seconds("norm_gradient", issue.norm_gradient)
      .seconds("product", issue.product)
      .seconds("view", issue.view)
      .seconds("scaled_product", issue.scaled_product)
      .seconds("attention", issue.attention)
      .seconds("attention_gradient", issue.attention_gradient)
      .seconds("update", issue.update)
      .seconds("foreach_update", issue.foreach_update);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, HostCopyFacts& copy) {
  visitor.seconds("launch", copy.launch)
      .share("pinned", copy.pinned)
      .share("pageable", copy.pageable)
      .seconds("pageable_launch", copy.pageable_launch);
}

}  // namespace sextant::describe
