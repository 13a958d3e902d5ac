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

Term pass_time_term(std::string name, const PassCost& pass, const step::PassRecord& record,
                    std::int64_t microbatches, const describe::StepFacts& facts) {
  const auto times = static_cast<double>(microbatches);
  Term term = seconds_term(std::move(name), (pass.compute + pass.slowed) * times,
                           fmt::format("{} x ({} + {} slowed)", microbatches, to_text(pass.compute),
                                       to_text(pass.slowed)));
  for (const OperatorTime* one : longest_first(record.operators)) {
    add_part(operator_term(*one, times), term);
  }
  add_part(
      seconds_term("slowed", pass.slowed * times,
                   fmt::format("{} x {} of {} of communication beside it (step.toml: slowed)",
                               microbatches, facts.slowed.value, to_text(pass.hidden.total()))),
      term);
  add_part(seconds_term("first gather", record.first_gather * times,
                        "FSDP gathers a first unit, and nothing hides it (host.toml: fsdp_entry)"),
           term);
  add_part(seconds_term("experts", record.expert_wait * times,
                        "the device waits while they are issued one by one (host.toml: expert)"),
           term);
  return term;
}

Term compute_term(const step::Estimate& result, const step::StepRecord& record) {
  Term term = seconds_term(
      "compute", result.step.compute,
      fmt::format("{} microbatches on pipeline rank {}: operators, and what communication beside "
                  "them slows",
                  result.microbatches, result.step.slowest_rank));
  term.page = "docs/models/compute.md";
  for (const step::StageRecord& stage : record.stages) {
    const StageCost& cost = result.step.stages[stage.stage];
    const std::int64_t index = result.stages[stage.stage].index;
    add_part(pass_time_term(fmt::format("stage {} forward", index), cost.forward, stage.forward,
                            result.microbatches, record.facts),
             term);
    add_part(pass_time_term(fmt::format("stage {} backward", index), cost.backward, stage.backward,
                            result.microbatches, record.facts),
             term);
  }
  return term;
}

Term host_term(const step::Estimate& result, const step::StepRecord& record) {
  Term term = seconds_term("waiting for the host", result.step.host,
                           "of each pass max(device, host + tail) less the device");
  const auto times = static_cast<double>(result.microbatches);
  for (const step::StageRecord& stage : record.stages) {
    const StageCost& cost = result.step.stages[stage.stage];
    for (const auto& [word, pass] :
         {std::pair("forward", &cost.forward), std::pair("backward", &cost.backward)}) {
      add_part(
          seconds_term(fmt::format("stage {} {}", result.stages[stage.stage].index, word),
                       pass->wait() * times,
                       fmt::format("{} x ({} of the host + {} tail - {} of the device) (host.toml)",
                                   result.microbatches, to_text(pass->host), to_text(pass->tail),
                                   to_text(pass->device()))),
          term);
    }
  }
  return term;
}

Term update_term(const step::Estimate& result, const step::StepRecord& record) {
  Term term = seconds_term("update", result.step.update,
                           "optimizer and clipping: the slower of device and host");
  for (const step::OnceRecord& stage : record.once) {
    for (const OperatorTime* one : longest_first(stage.update)) {
      add_part(operator_term(*one, 1.0), term);
    }
  }
  add_part(seconds_term("waiting for the host", record.update_wait,
                        "what it takes to issue it beyond what the device takes: parameter "
                        "tensors x time each (host.toml: fused_tensor)"),
           term);
  return term;
}

Term beside_term(const step::Estimate& result, const step::StepRecord& record) {
  Term term = seconds_term("loop and unevenness", result.step.beside);
  add_part(seconds_term("training loop", record.loop, "once a step (step.toml: loop)"), term);
  add_part(seconds_term("uneven devices", record.uneven,
                        fmt::format("{} of the compute alone (step.toml: uneven)",
                                    record.facts.uneven.value)),
           term);
  return term;
}

std::string bubble_text(const step::Estimate& result, const step::StepRecord& record,
                        const describe::Job& job) {
  if (!record.simulated) {
    return fmt::format(
        "a microbatch through every other pipeline rank: {} cannot run {}",
        describe::word_of<describe::Schedule>(describe::kScheduleWords, job.layout.schedule),
        result.microbatches);
  }
  return fmt::format(
      "span of {} without messages less {} x {} of pipeline rank {}",
      describe::word_of<describe::Schedule>(describe::kScheduleWords, job.layout.schedule),
      result.microbatches, to_text(result.slowest_microbatch()), result.step.slowest_rank);
}

}  // namespace

Term step_tree(const step::Estimate& result, const step::StepRecord& record,
               const describe::Job& job) {
  Term root = seconds_term("step", result.step.step,
                           fmt::format("what pipeline rank {}, the slowest, does and waits for: {}",
                                       result.step.slowest_rank, slowest_stages(result)));
  root.page = "docs/models/step.md";
  add_part(compute_term(result, record), root);
  add_part(host_term(result, record), root);
  for (const auto& [axis, word] : step::kAxisWords) {
    if (result.step.exposed[axis] > Seconds()) {
      root.parts.push_back(exposed_term(axis, result, record));
    }
  }
  add_part(seconds_term("bubble", result.step.bubble, bubble_text(result, record, job)), root);
  add_part(update_term(result, record), root);
  add_part(beside_term(result, record), root);
  return root;
}

}  // namespace sextant::explain
