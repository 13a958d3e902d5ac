// What a rank computes, as a tree: phase, operator with its shape, term. Times are of a whole step.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "explain/compute_view.h"
#include "explain/work_view.h"

namespace sextant::explain {
namespace {

using cost::OperatorCost;
using cost::OperatorTime;
using cost::RankDetail;
using cost::StepPhase;
using sextant::to_text;
using workload::Operator;

std::string work_rate_text(const Operator& op, Seconds time) {
  return fmt::format("{:.4g} TFLOP at {}", op.flops / 1_TFLOP, to_text(op.flops / time));
}

// The slower of arithmetic and traffic, which hides the other.
void add_busy_parts(const Operator& op, const OperatorCost& cost, double times, Term& term) {
  if (cost.compute + cost.output < cost.memory) {
    const Bytes bytes = op.read + op.written;
    add_part(seconds_term("memory", cost.memory * times,
                          fmt::format("{} at {}", to_text(bytes), to_text(bytes / cost.memory))),
             term);
    return;
  }
  add_part(
      seconds_term("compute", cost.compute * times,
                   op.flops > Flops() && cost.compute > Seconds() ? work_rate_text(op, cost.compute)
                                                                  : std::string()),
      term);
  add_part(seconds_term(
               "output", cost.output * times,
               fmt::format("{} written, the part that no arithmetic hides", to_text(op.written))),
           term);
}

// Rows and columns as operator_time takes them; a scan's or attention's arithmetic is in compute.
std::string elements_text(const Operator& op) {
  return fmt::format("{:.6g} elements",
                     static_cast<double>(op.m) * static_cast<double>(op.n) + op.indexed);
}

Term phase_term(StepPhase phase, std::string_view word, const RankDetail& rank) {
  const double repeats = rank.times(phase);
  const cost::PhaseTime& time = rank.phase(phase);
  Term term =
      seconds_term(std::string(word), time.device * repeats,
                   fmt::format("{:.0f} x {} of the device; the host takes {} for {:.0f} "
                               "kernels",
                               repeats, to_text(time.device), to_text(time.host), time.kernels));
  for (const OperatorTime* one : longest_first(rank.operators[static_cast<std::size_t>(phase)])) {
    add_part(operator_term(*one, repeats), term);
  }
  if (phase == StepPhase::kForward) {
    add_part(seconds_term("first gather", rank.time.first_gather * repeats,
                          "FSDP gathers a first unit, and nothing hides it"),
             term);
  }
  if (phase != StepPhase::kUpdate) {
    add_part(seconds_term("experts", rank.time.expert_wait * repeats,
                          "the device waits while they are issued one by one (host.toml: expert)"),
             term);
  }
  return term;
}

}  // namespace

Term seconds_term(std::string name, Seconds time, std::string formula) {
  Term term;
  term.name = std::move(name);
  term.value = to_text(time);
  term.number = time.base();
  term.unit = "s";
  term.formula = std::move(formula);
  return term;
}

void add_part(Term part, Term& term) {
  if (part.number > 0.0) {
    term.parts.push_back(std::move(part));
  }
}

Term operator_term(const OperatorTime& one, double repeats) {
  const Operator& op = one.op;
  const OperatorCost& cost = one.cost;
  const double times = one.times * repeats;
  Term term =
      seconds_term(fmt::format("{} ({})", operator_name(op),
                               describe::word_of<workload::Pass>(workload::kPassWords, op.pass)),
                   one.total() * repeats);
  const Seconds busy = cost.compute + cost.output;
  const Seconds hidden = std::min(busy, cost.memory);
  term.formula =
      fmt::format("{:.6g} x [{}] {} of {}{}", times, shape_text(op),
                  describe::word_of<describe::DType>(describe::kDTypeWords, op.dtype),
                  to_text(cost.total() + one.limit()),
                  hidden > Seconds() ? fmt::format(", {} of {} hidden", to_text(hidden),
                                                   busy < cost.memory ? "compute" : "memory")
                                     : std::string());
  add_part(seconds_term("launch", cost.launch * times,
                        fmt::format("{:.6g} kernels, {} each time", op.kernels * times,
                                    to_text(cost.launch))),
           term);
  add_busy_parts(op, cost, times, term);
  add_part(seconds_term("vector", cost.vector * times, elements_text(op)), term);
  add_part(seconds_term("power limit", one.limit() * times,
                        fmt::format("(compute + output) x {:.4g}", one.limited)),
           term);
  return term;
}

std::vector<const OperatorTime*> longest_first(const std::vector<OperatorTime>& operators) {
  std::vector<const OperatorTime*> order;
  for (const OperatorTime& one : operators) {
    order.push_back(&one);
  }
  std::sort(order.begin(), order.end(), [](const OperatorTime* a, const OperatorTime* b) {
    return a->total() > b->total() || (a->total() == b->total() && a < b);
  });
  return order;
}

Term compute_tree(const step::ComputeEstimate& estimate) {
  const RankDetail& rank = estimate.rank;
  Term root = seconds_term(
      fmt::format("compute of a step, pipeline rank {}", rank.pipeline_rank), rank.step,
      fmt::format("{} microbatches, {:.4g} TFLOP of the model; communication and bubbles: "
                  "«explain» step",
                  rank.microbatches, rank.model_flops / 1_TFLOP));
  root.page = "docs/models/compute.md";
  for (const auto& [phase, word] : cost::kStepPhaseWords) {
    add_part(phase_term(phase, word, rank), root);
  }
  add_part(seconds_term("waiting for the host", cost::host_wait(rank),
                        "the end of the step less what the device does"),
           root);
  return root;
}

}  // namespace sextant::explain
