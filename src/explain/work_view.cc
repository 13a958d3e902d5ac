#include "explain/work_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity_text.h"

namespace sextant::explain {
namespace {

using sextant::to_text;
using workload::Operator;
using workload::OpKind;
using workload::Pass;

Term flops_term(std::string name, Flops flops) {
  Term term;
  term.name = std::move(name);
  term.number = flops.base();
  term.unit = "flop";
  term.value = fmt::format("{:.4g} TFLOP", flops / 1_TFLOP);
  return term;
}

Term operator_work_term(const Operator& op) {
  Term term = flops_term(
      fmt::format("{}: {}", describe::word_of<workload::Part>(workload::kPartWords, op.part),
                  describe::word_of<OpKind>(workload::kOpKindWords, op.kind)),
      op.flops * static_cast<double>(op.count));
  term.formula = fmt::format("{} x [{}] {}, {} read, {} written", op.count, shape_text(op),
                             describe::word_of<describe::DType>(describe::kDTypeWords, op.dtype),
                             to_text(op.read * static_cast<double>(op.count)),
                             to_text(op.written * static_cast<double>(op.count)));
  return term;
}

// Operators of one pass, most work first, then most bytes.
Term pass_work_term(Pass pass, const std::vector<Operator>& operators) {
  std::vector<const Operator*> held;
  Flops sum;
  for (const Operator& op : operators) {
    if (op.pass == pass) {
      held.push_back(&op);
      sum += op.flops * static_cast<double>(op.count);
    }
  }
  std::stable_sort(held.begin(), held.end(), [](const Operator* a, const Operator* b) {
    return a->flops * static_cast<double>(a->count) > b->flops * static_cast<double>(b->count);
  });
  Term term = flops_term(std::string(describe::word_of<Pass>(workload::kPassWords, pass)), sum);
  for (const Operator* op : held) {
    term.parts.push_back(operator_work_term(*op));
  }
  return term;
}

Term stage_term(const StageWork& stage, std::int64_t microbatches) {
  const workload::WorkTotals totals = workload::totals_of(stage.operators);
  const Flops all = totals.forward.flops + totals.input_gradient.flops +
                    totals.weight_gradient.flops + totals.recompute.flops;
  Term term = flops_term(fmt::format("stage {}", stage.stage.index),
                         all * static_cast<double>(microbatches));
  term.formula = fmt::format("{} microbatches x {:.4g} TFLOP ({:.4g} of the model's own)",
                             microbatches, all / 1_TFLOP, totals.model / 1_TFLOP);
  for (const Pass pass :
       {Pass::kForward, Pass::kRecompute, Pass::kInputGradient, Pass::kWeightGradient}) {
    Term part = pass_work_term(pass, stage.operators);
    if (!part.parts.empty()) {
      term.parts.push_back(std::move(part));
    }
  }
  return term;
}

}  // namespace

std::string shape_text(const Operator& op) {
  switch (op.kind) {
    case OpKind::kGemm:
      return op.batch == 1 ? fmt::format("{}x{}x{}", op.m, op.n, op.k)
                           : fmt::format("{} of {}x{}x{}", op.batch, op.m, op.n, op.k);
    case OpKind::kGroupedGemm:
      return fmt::format("{} experts of {}x{}x{}", op.batch, op.m, op.n, op.k);
    case OpKind::kAttention:
      return fmt::format("{} x {} queries, {}/{} heads of {}, {:.0f} keys", op.batch, op.m,
                         op.heads, op.kv_heads, op.k, op.keys);
    case OpKind::kScan:
      return fmt::format("{} x {} tokens, {} heads of {}, state {}", op.batch, op.m, op.heads, op.n,
                         op.k);
    case OpKind::kConvolution:
    case OpKind::kNorm:
    case OpKind::kActivation:
    case OpKind::kRotary:
    case OpKind::kResidual:
    case OpKind::kEmbedding:
    case OpKind::kLoss:
    case OpKind::kRoute:
    case OpKind::kPermute:
    case OpKind::kCast:
    case OpKind::kQuantise:
    case OpKind::kOptimizer:
    case OpKind::kReduceNorm:
    case OpKind::kCopy:
      break;
  }
  return fmt::format("{}x{}", op.m, op.n);
}

Term work_tree(const WorkAnswer& answer) {
  Term root = flops_term("work of a step, one rank of each stage", Flops());
  root.page = "docs/models/operators.md";
  for (const StageWork& stage : answer.stages) {
    root.parts.push_back(stage_term(stage, answer.microbatches));
    root.number += root.parts.back().number;
  }
  root.parts.push_back(pass_work_term(Pass::kUpdate, answer.update));
  root.value = fmt::format("{:.4g} TFLOP", Flops(root.number) / 1_TFLOP);
  return root;
}

}  // namespace sextant::explain
