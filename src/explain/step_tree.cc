#include "explain/step_tree.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "describe/layout/layout_text.h"
#include "explain/compute_view.h"
#include "explain/step_messages.h"
#include "explain/step_result.h"

namespace sextant::explain {
namespace {

using cost::OperatorTime;
using sextant::to_text;
using step::PassCost;
using step::StageCost;

Term pass_time_term(std::string name, const PassCost& pass, const step::StageParts& parts,
                    bool forward, const step::Estimate& result, const describe::StepFacts& facts) {
  const auto times = static_cast<double>(result.microbatches);
  Term term = seconds_term(std::move(name), (pass.compute + pass.slowed) * times,
                           fmt::format("{} x ({} + {} slowed)", result.microbatches,
                                       to_text(pass.compute), to_text(pass.slowed)));
  for (const OperatorTime* one : longest_first(parts.operators)) {
    if ((one->op.pass == workload::Pass::kForward) == forward) {
      add_part(operator_term(*one, times), term);
    }
  }
  add_part(seconds_term(
               "slowed", pass.slowed * times,
               fmt::format("{} x {} of {} of communication beside it (step.toml: slowed)",
                           result.microbatches, facts.slowed.value, to_text(pass.hidden.total()))),
           term);
  add_rest("device waits in its phase",
           "FSDP's first gather, experts issued one by one (host.toml)", term);
  return term;
}

Term compute_term(const step::Estimate& result, const step::StepDetail& detail) {
  Term term = seconds_term(
      "compute", result.step.compute,
      fmt::format("{} microbatches on pipeline rank {}: operators, and what communication beside "
                  "them slows",
                  result.microbatches, result.step.slowest_rank));
  term.page = "docs/models/compute.md";
  for (const step::StageParts& parts : detail.stages) {
    const StageCost& cost = result.step.stages[parts.stage];
    const std::int64_t index = result.stages[parts.stage].index;
    add_part(pass_time_term(fmt::format("stage {} forward", index), cost.forward, parts, true,
                            result, detail.facts),
             term);
    add_part(pass_time_term(fmt::format("stage {} backward", index), cost.backward, parts, false,
                            result, detail.facts),
             term);
  }
  return term;
}

Term host_term(const step::Estimate& result, const step::StepDetail& detail) {
  Term term = seconds_term("waiting for the host", result.step.host,
                           "of each pass max(device, host + tail) less the device");
  const auto times = static_cast<double>(result.microbatches);
  for (const step::StageParts& parts : detail.stages) {
    const StageCost& cost = result.step.stages[parts.stage];
    for (const auto& [word, pass] :
         {std::pair("forward", &cost.forward), std::pair("backward", &cost.backward)}) {
      const Seconds wait = pass->total() - pass->device();
      if (wait * times > result.step.host * kRounding) {
        add_part(
            seconds_term(
                fmt::format("stage {} {}", result.stages[parts.stage].index, word), wait * times,
                fmt::format("{} x ({} of the host + {} tail - {} of the device) (host.toml)",
                            result.microbatches, to_text(pass->host), to_text(pass->tail),
                            to_text(pass->device()))),
            term);
      }
    }
  }
  return term;
}

Term update_term(const step::Estimate& result, const step::StepDetail& detail) {
  Term term = seconds_term("update", result.step.update,
                           "optimizer and clipping: the slower of device and host");
  for (const step::StageParts& parts : detail.once) {
    for (const OperatorTime* one : longest_first(parts.update)) {
      add_part(operator_term(*one, 1.0), term);
    }
  }
  add_rest("the host issues it", "parameter tensors x time each (host.toml: fused_tensor)", term);
  return term;
}

Term beside_term(const step::Estimate& result, const describe::StepFacts& facts) {
  Term term = seconds_term("loop and unevenness", result.step.beside);
  const Seconds loop = std::min(facts.loop.value, result.step.beside);
  add_part(seconds_term("training loop", loop, "once a step (step.toml: loop)"), term);
  add_rest("uneven devices",
           fmt::format("{} of the compute alone (step.toml: uneven)", facts.uneven.value), term);
  return term;
}

std::string bubble_text(const step::Estimate& result, const describe::Job& job) {
  return fmt::format(
      "span of {} without messages less {} x {} of pipeline rank {}",
      describe::word_of<describe::Schedule>(describe::kScheduleWords, job.layout.schedule),
      result.microbatches, to_text(result.slowest_microbatch()), result.step.slowest_rank);
}

}  // namespace

Term step_tree(const step::Estimate& result, const step::StepDetail& detail,
               const describe::Job& job) {
  Term root = seconds_term("step", result.step.step,
                           fmt::format("what pipeline rank {}, the slowest, does and waits for: {}",
                                       result.step.slowest_rank, slowest_stages(result)));
  root.page = "docs/models/step.md";
  add_part(compute_term(result, detail), root);
  add_part(host_term(result, detail), root);
  for (const auto& [axis, word] : step::kAxisWords) {
    if (result.step.exposed[axis] > Seconds()) {
      root.parts.push_back(exposed_term(axis, result, detail));
    }
  }
  add_part(seconds_term("bubble", result.step.bubble, bubble_text(result, job)), root);
  add_part(update_term(result, detail), root);
  add_part(beside_term(result, detail.facts), root);
  return root;
}

}  // namespace sextant::explain
