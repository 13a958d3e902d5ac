#include "explain/step_messages.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "explain/compute_view.h"
#include "explain/percent.h"

namespace sextant::explain {
namespace {

using sextant::to_text;
using step::Axis;
using workload::Collective;
using workload::GroupKind;
using workload::Hides;

// "640 x all_gather of 64 MiB, 8 ranks (tp), 123 us each".
std::string calls_text(const step::NotedMessage& noted, double times) {
  const Collective& message = noted.message;
  const Bytes bytes(static_cast<double>(std::max(message.input_bytes, message.output_bytes)));
  return fmt::format(
      "{:.6g} x {} of {} over {} ranks ({}), {} each", noted.times * times,
      describe::word_of<describe::CollectiveOp>(describe::kCollectiveOpWords, message.op),
      to_text(bytes), message.group_size,
      describe::word_of<GroupKind>(workload::kGroupKindWords, message.group), to_text(noted.each));
}

// The constant of data/step.toml that says how much stays hidden.
std::string hides_text(Hides hides, const describe::StepFacts& facts) {
  switch (hides) {
    case Hides::kGemm:
      return fmt::format(", its product hides {} (step.toml: hidden_tensor)",
                         facts.hidden_tensor.value);
    case Hides::kMicrobatch:
      return fmt::format(", another microbatch hides {} (step.toml: hidden_expert)",
                         facts.hidden_expert.value);
    case Hides::kNextLayers:
      return fmt::format(
          ", behind {} of the compute of other layers (step.toml: hiding_compute), "
          "all but the first or last",
          facts.hiding_compute.value);
    case Hides::kAttention:
      return ", behind attention";
    case Hides::kOptimizer:
      return ", behind the optimizer";
    case Hides::kNothing:
      break;
  }
  return ", nothing hides it";
}

// What of the axis's messages is exposed, the longest first.
void add_messages(Axis axis, const std::vector<step::NotedMessage>& messages, double times,
                  const describe::StepFacts& facts, Term& term) {
  std::vector<const step::NotedMessage*> list;
  for (const step::NotedMessage& noted : messages) {
    if (step::axis_of(noted.message.group) == axis) {
      list.push_back(&noted);
    }
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const step::NotedMessage* a, const step::NotedMessage* b) {
                     return a->exposed > b->exposed;
                   });
  for (const step::NotedMessage* noted : list) {
    const Seconds all = noted->all() * times;
    const Seconds exposed = noted->exposed * times;
    const std::string share =
        noted->exposed < noted->all()
            ? fmt::format("; {} of {} exposed", percent(exposed / all), to_text(all))
            : std::string();
    add_part(
        seconds_term(std::string(noted->message.what), exposed,
                     calls_text(*noted, times) + hides_text(noted->message.hides, facts) + share),
        term);
  }
}

std::string sends_text(const step::Estimate& result) {
  Seconds longest;
  bool hidden = true;
  for (const step::StageCost& stage : result.step.stages) {
    longest = std::max({longest, stage.send_forward, stage.send_backward});
    hidden = hidden && stage.sends_hidden;
  }
  return fmt::format("the pipeline's span with them less without them; up to {} each, {}",
                     to_text(longest),
                     hidden ? "in the background: the receiver waits" : "the sender waits");
}

// How often a pass runs in a step, and the constants that hide its messages.
struct Scale {
  double times = 1.0;
  const describe::StepFacts& facts;
};

Term pass_term(Axis axis, const std::string& name, const step::PassCost& pass,
               const step::PassRecord& record, const Scale& scale) {
  Term term = seconds_term(name, pass.exposed[axis] * scale.times,
                           fmt::format("{:.0f} x {}", scale.times, to_text(pass.exposed[axis])));
  add_messages(axis, record.messages, scale.times, scale.facts, term);
  if (axis == Axis::kData) {
    add_part(seconds_term("the first behind layers", record.first * scale.times,
                          "no layer comes before it that could hide it"),
             term);
  }
  return term;
}

}  // namespace

Term exposed_term(Axis axis, const step::Estimate& result, const step::StepRecord& record) {
  const std::string word(describe::word_of<Axis>(step::kAxisWords, axis));
  const Seconds all = result.step.exposed[axis];
  Term term =
      seconds_term("exposed " + word, all,
                   fmt::format("{} of the step; {} more is hidden", percent(all / result.step.step),
                               to_text(result.step.hidden[axis])));
  const Scale scale{static_cast<double>(result.microbatches), record.facts};
  for (const step::StageRecord& stage : record.stages) {
    const step::StageCost& cost = result.step.stages[stage.stage];
    const std::int64_t index = result.stages[stage.stage].index;
    add_part(
        pass_term(axis, fmt::format("stage {} forward", index), cost.forward, stage.forward, scale),
        term);
    add_part(pass_term(axis, fmt::format("stage {} backward", index), cost.backward, stage.backward,
                       scale),
             term);
  }
  if (axis == Axis::kPipeline) {
    add_part(seconds_term("messages between stages", record.between, sends_text(result)), term);
  }
  Term once = seconds_term("once a step", record.once_exposed(axis),
                           "gradients, parameters and norms that nothing hides");
  for (const step::OnceRecord& stage : record.once) {
    add_messages(axis, stage.messages, 1.0, record.facts, once);
  }
  add_part(std::move(once), term);
  return term;
}

}  // namespace sextant::explain
