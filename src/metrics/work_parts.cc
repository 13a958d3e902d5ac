#include "metrics/work_parts.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace sextant::metrics {
namespace {

using timeline::Label;
using timeline::LaneId;
using timeline::OperatorUse;
using timeline::Span;
using timeline::SpanKind;
using timeline::Tensor;

// What a range on the host says of what is launched inside it. Source of the names: pytorch,
// torch/csrc/autograd/engine.cpp (evaluate_function) and torch/optim/optimizer.py
// (profile_hook_step).
enum class RangeRole : std::uint8_t { kNone, kOperator, kEvaluation, kUpdate, kRuntime, kGraph };

RangeRole role_of(const Label& label, const LabelTraits& traits) {
  const std::string_view name = label.name;
  if (name.starts_with("Optimizer.step#")) {
    return RangeRole::kUpdate;
  }
  if (label.kind != SpanKind::kHost) {
    return RangeRole::kNone;
  }
  if (traits.is_runtime) {
    // One call launches what any pass recorded.
    return name.find("GraphLaunch") != std::string_view::npos ? RangeRole::kGraph
                                                              : RangeRole::kRuntime;
  }
  return name.starts_with("autograd::engine::evaluate_function") ? RangeRole::kEvaluation
                                                                 : RangeRole::kOperator;
}

struct OpenRange {
  std::uint32_t number = kNone;
  std::int64_t end_ns = 0;
  RangeRole role = RangeRole::kNone;
  WorkPass pass = WorkPass::kForward;
  bool is_written_attention = false;
};

// Source: pytorch, aten/src/ATen/native/transformers/attention.cpp.
bool is_written_attention(std::string_view name) {
  return name.starts_with("aten::_scaled_dot_product_attention_math");
}

// The pass inside a range, by that around it. The function that autograd evaluates stands directly
// in the evaluation; what autograd records further inside is the forward pass again.
WorkPass pass_inside(const OpenRange* around, RangeRole role, const Label& label) {
  if (role == RangeRole::kUpdate) {
    return WorkPass::kUpdate;
  }
  if (role == RangeRole::kEvaluation) {
    return WorkPass::kBackward;
  }
  const WorkPass outer = around == nullptr ? WorkPass::kForward : around->pass;
  const bool is_recorded = label.call && label.call->is_differentiated;
  if (outer == WorkPass::kBackward && is_recorded && around->role != RangeRole::kEvaluation) {
    return WorkPass::kAgain;
  }
  return outer;
}

void walk_thread(const View& view, LaneId lane, const std::vector<RangeRole>& roles,
                 CallPlaces& places) {
  std::vector<OpenRange> open;
  for (const Span& span : view.timeline().spans_of(lane)) {
    while (!open.empty() && open.back().end_ns <= span.start_ns) {
      open.pop_back();
    }
    const auto label = static_cast<std::size_t>(view.timeline().occurrence_of(span).label.value);
    const RangeRole role = roles[label];
    if (role == RangeRole::kNone) {
      continue;
    }
    const OpenRange* around = open.empty() ? nullptr : &open.back();
    const std::uint32_t number = view.number_of(span);
    if (role != RangeRole::kRuntime && role != RangeRole::kGraph) {
      const Label& what = view.timeline().labels()[label];
      open.push_back(
          {number, span.end_ns(), role, pass_inside(around, role, what),
           (around != nullptr && around->is_written_attention) || is_written_attention(what.name)});
      continue;
    }
    places.is_in_written_attention[number] = around != nullptr && around->is_written_attention;
    places.pass_of[number] = role == RangeRole::kGraph ? WorkPass::kUnknown
                             : around == nullptr       ? WorkPass::kForward
                                                       : around->pass;
    const auto inner = std::find_if(open.rbegin(), open.rend(), [](const OpenRange& range) {
      return range.role == RangeRole::kOperator || range.role == RangeRole::kEvaluation;
    });
    places.operator_of[number] = inner == open.rend() ? kNone : inner->number;
  }
}

// REQUIRES: two dimensions.
ScoreShape score_shape(const Tensor& tensor) {
  return {tensor.dims[tensor.dims.size() - 2], tensor.dims.back(), tensor.elements()};
}
ScoreShape score_shape(const ProductSize& size, std::int64_t rows, std::int64_t columns) {
  return {
      rows, columns,
      static_cast<double>(size.batch) * static_cast<double>(rows) * static_cast<double>(columns)};
}

bool is_score_product(const ProductSize& size, const ModelShapes& shapes) {
  // Scores themselves, or one of those that they are multiplied with.
  return size.batch > 1 && (shapes.scores.contains(score_shape(size, size.m, size.n)) ||
                            shapes.scores.contains(score_shape(size, size.m, size.k)) ||
                            shapes.scores.contains(score_shape(size, size.k, size.n)));
}

// A batch of products as a compiler states it: of operands and a result of three dimensions at
// least.
bool is_batched(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  const auto is_deep = [](const Tensor& tensor) { return tensor.dims.size() >= 3; };
  return inputs.size() >= 2 && !outputs.empty() && is_deep(inputs[0]) && is_deep(inputs[1]) &&
         is_deep(outputs[0]);
}

// Scores are more than the queries and keys that they are made of.
bool grows(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  return outputs[0].elements() > std::max(inputs[0].elements(), inputs[1].elements());
}

bool has_scores(const std::vector<Tensor>& tensors, const ModelShapes& shapes) {
  return std::ranges::any_of(tensors, [&](const Tensor& tensor) {
    return tensor.dims.size() >= 3 && shapes.scores.contains(score_shape(tensor));
  });
}

bool has_classes_in(const std::vector<Tensor>& tensors, const ModelShapes& shapes) {
  return std::ranges::any_of(tensors, [&](const Tensor& tensor) {
    return std::ranges::any_of(tensor.dims,
                               [&](std::int64_t dim) { return shapes.classes.contains(dim); });
  });
}

WorkPart product_part(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                      const ModelShapes& shapes) {
  if (!outputs.empty()) {
    if (is_batched(inputs, outputs) &&
        (has_scores(inputs, shapes) || has_scores(outputs, shapes))) {
      return WorkPart::kScores;
    }
    return has_classes_in(inputs, shapes) || has_classes_in(outputs, shapes) ? WorkPart::kHead
                                                                             : WorkPart::kProducts;
  }
  const auto size = product_size(inputs);
  if (!size) {
    return WorkPart::kProducts;
  }
  if (is_score_product(*size, shapes)) {
    return WorkPart::kScores;
  }
  const bool has_classes = shapes.classes.contains(size->m) || shapes.classes.contains(size->n) ||
                           shapes.classes.contains(size->k);
  return has_classes ? WorkPart::kHead : WorkPart::kProducts;
}

// What streams through memory.
WorkPart stream_part(const WorkFacts& facts, OperatorUse use, const ModelShapes& shapes) {
  const std::vector<Tensor>& inputs = *facts.inputs;
  const Tensor* large = largest(facts.outputs->empty() ? inputs : *facts.outputs);
  if (has_scores(*facts.outputs, shapes) ||
      (!facts.outputs->empty() && has_scores(inputs, shapes))) {
    return WorkPart::kScores;
  }
  if (large != nullptr && large->dims.size() >= 3 && shapes.scores.contains(score_shape(*large))) {
    return WorkPart::kScores;
  }
  if (use == OperatorUse::kSoftmax && inputs.empty() && !shapes.scores.empty()) {
    return WorkPart::kScores;  // a library's, of which no shape is known
  }
  if (use == OperatorUse::kLoss || (large != nullptr && large->dims.size() >= 2 &&
                                    shapes.classes.contains(large->dims.back()))) {
    return WorkPart::kLoss;
  }
  switch (use) {
    case OperatorUse::kNorm:
      return WorkPart::kNorms;
    case OperatorUse::kCopy:
      return !facts.outputs->empty() ||
                     (inputs.size() == 2 && inputs[0].element && inputs[0] == inputs[1])
                 ? WorkPart::kRelayout
                 : WorkPart::kElementwise;
    case OperatorUse::kElementwise:
    case OperatorUse::kReduction:
      return facts.name == "aten::fill_" ? WorkPart::kCopies : WorkPart::kElementwise;
    case OperatorUse::kProduct:
    case OperatorUse::kConvolution:
    case OperatorUse::kAttention:
    case OperatorUse::kSoftmax:
    case OperatorUse::kEmbedding:
    case OperatorUse::kLoss:
    case OperatorUse::kUpdate:
      break;
  }
  return WorkPart::kOther;
}

// What may be scores, by the operators that make and take it.
struct ScoreCandidates {
  std::set<ScoreShape> products;
  std::set<ScoreShape> softmaxes;
  std::set<ScoreShape> taken;  // by another batch of products
};

// REQUIRES: inputs.
void note_product(const timeline::OperatorCall& call, ScoreCandidates& candidates) {
  if (!call.outputs.empty()) {
    if (!is_batched(call.inputs, call.outputs)) {
      return;
    }
    if (grows(call.inputs, call.outputs)) {
      candidates.products.insert(score_shape(call.outputs[0]));
    }
    // A compiler's softmax is in fusions: what one batch makes another takes.
    candidates.softmaxes.insert(score_shape(call.inputs[0]));
    candidates.softmaxes.insert(score_shape(call.inputs[1]));
    return;
  }
  const auto size = product_size(call.inputs);
  if (!size || size->batch <= 1) {
    return;
  }
  if (size->k < std::min(size->m, size->n)) {
    candidates.products.insert(score_shape(*size, size->m, size->n));
  } else {
    candidates.taken.insert(score_shape(*size, size->m, size->k));
  }
}

}  // namespace

CallPlaces call_places(const View& view, const RankLanes& rank) {
  CallPlaces places;
  places.operator_of.assign(view.call_of.size(), kNone);
  places.pass_of.assign(view.call_of.size(), WorkPass::kUnknown);
  places.is_in_written_attention.assign(view.call_of.size(), false);
  std::vector<RangeRole> roles;
  bool has_evaluations = false;
  for (std::size_t i = 0; i < view.traits.size(); ++i) {
    roles.push_back(role_of(view.timeline().labels()[i], view.traits[i]));
    has_evaluations |= roles.back() == RangeRole::kEvaluation;
  }
  for (const LaneId lane : rank.threads) {
    walk_thread(view, lane, roles, places);
  }
  // Where no backward pass is told, what is not the update's may be of any.
  for (WorkPass& pass : places.pass_of) {
    pass = has_evaluations || pass == WorkPass::kUpdate ? pass : WorkPass::kUnknown;
  }
  return places;
}

ModelShapes model_shapes(std::span<const Label> labels) {
  ScoreCandidates candidates;
  ModelShapes shapes;
  bool has_bare_softmax = false;
  for (const Label& label : labels) {
    if (!label.call) {
      continue;
    }
    const std::vector<Tensor>& inputs = label.call->inputs;
    has_bare_softmax |= label.call->use == OperatorUse::kSoftmax && inputs.empty();
    if (inputs.empty()) {
      continue;
    }
    if (label.call->use == OperatorUse::kProduct) {
      note_product(*label.call, candidates);
    } else if (label.call->use == OperatorUse::kSoftmax && inputs[0].dims.size() >= 3) {
      candidates.softmaxes.insert(score_shape(inputs[0]));
    } else if (label.call->use == OperatorUse::kLoss && inputs[0].dims.size() >= 2) {
      shapes.classes.insert(inputs[0].dims.back());
    }
  }
  if (has_bare_softmax && candidates.softmaxes.empty()) {
    // A library's softmax, of which no shape is known, between two batches of products.
    candidates.softmaxes = candidates.taken;
  }
  std::ranges::set_intersection(candidates.products, candidates.softmaxes,
                                std::inserter(shapes.scores, shapes.scores.end()));
  return shapes;
}

const Tensor* largest(const std::vector<Tensor>& tensors) {
  const auto found = std::ranges::max_element(
      tensors, [](const Tensor& a, const Tensor& b) { return a.elements() < b.elements(); });
  return found == tensors.end() ? nullptr : &*found;
}

WorkPart part_of(const WorkFacts& facts, const ModelShapes& shapes) {
  if (facts.is_communication) {
    return WorkPart::kCommunication;
  }
  if (facts.pass == WorkPass::kUpdate || facts.use == OperatorUse::kUpdate) {
    return WorkPart::kUpdate;
  }
  if (facts.is_host_copy) {
    return WorkPart::kCopies;
  }
  if (!facts.use) {
    return WorkPart::kOther;
  }
  switch (*facts.use) {
    case OperatorUse::kProduct:
      return product_part(*facts.inputs, *facts.outputs, shapes);
    case OperatorUse::kConvolution:
      return WorkPart::kProducts;
    case OperatorUse::kAttention:
      return WorkPart::kAttention;
    case OperatorUse::kEmbedding:
      return WorkPart::kEmbedding;
    case OperatorUse::kSoftmax:
    case OperatorUse::kNorm:
    case OperatorUse::kElementwise:
    case OperatorUse::kReduction:
    case OperatorUse::kCopy:
    case OperatorUse::kLoss:
    case OperatorUse::kUpdate:
      break;
  }
  // Scaled queries and keys, and copies of them, are there for the scores that follow.
  return facts.is_in_written_attention && !shapes.scores.empty()
             ? WorkPart::kScores
             : stream_part(facts, *facts.use, shapes);
}

std::optional<ProductSize> product_size(const std::vector<Tensor>& inputs) {
  // An added term stands first: addmm(self, mat1, mat2).
  for (std::size_t first = 0; first + 1 < inputs.size() && first < 2; ++first) {
    const Tensor& a = inputs[first];
    const Tensor& b = inputs[first + 1];
    const bool fits = a.dims.size() >= 2 && a.dims.size() == b.dims.size() &&
                      a.dims.back() == b.dims[b.dims.size() - 2];
    // Of three, the first two may fit by chance: then the last two do, too.
    const bool is_last = first + 2 == inputs.size();
    if (!fits || (!is_last && product_size({inputs.begin() + 1, inputs.end()}))) {
      continue;
    }
    ProductSize size{.m = a.dims[a.dims.size() - 2],
                     .n = b.dims.back(),
                     .k = a.dims.back(),
                     .element = a.element};
    for (std::size_t i = 0; i + 2 < a.dims.size(); ++i) {
      size.batch *= a.dims[i];
    }
    return size;
  }
  return std::nullopt;
}

}  // namespace sextant::metrics
