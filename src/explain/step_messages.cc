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
using workload::Phase;

bool in_forward(const Collective& message) {
  return message.phase == Phase::kForward;
}
bool in_backward(const Collective& message) {
  return message.phase == Phase::kBackward || message.phase == Phase::kRecompute;
}
bool once(const Collective& message) {
  return !in_forward(message) && !in_backward(message);
}

Seconds all_calls(const step::PricedMessage& priced) {
  return priced.each * static_cast<double>(priced.message.count);
}

// "640 x all_gather of 64 MiB, 8 ranks (tp), 123 us each".
std::string calls_text(const step::PricedMessage& priced) {
  const Collective& message = priced.message;
  const Bytes bytes(static_cast<double>(std::max(message.input_bytes, message.output_bytes)));
  return fmt::format(
      "{} x {} of {} over {} ranks ({}), {} each", message.count,
      describe::word_of<describe::CollectiveOp>(describe::kCollectiveOpWords, message.op),
      to_text(bytes), message.group_size,
      describe::word_of<GroupKind>(workload::kGroupKindWords, message.group), to_text(priced.each));
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

// Messages that add up to `exposed`: bare ones whole, the others by their time what is left.
void add_messages(const std::vector<const step::PricedMessage*>& messages, Seconds exposed,
                  const describe::StepFacts& facts, Term& term) {
  Seconds bare;
  Seconds hideable;
  for (const step::PricedMessage* priced : messages) {
    (priced->message.hides == Hides::kNothing ? bare : hideable) += all_calls(*priced);
  }
  const bool plain = bare <= exposed * (1.0 + kRounding);
  const double of_bare = bare > Seconds() ? (plain ? 1.0 : exposed / bare) : 0.0;
  const Seconds rest = exposed - bare * of_bare;
  const double of_rest = hideable > Seconds() ? rest / hideable : 0.0;
  Seconds told;
  for (const step::PricedMessage* priced : messages) {
    const bool hides = priced->message.hides != Hides::kNothing;
    const Seconds part = all_calls(*priced) * (hides ? of_rest : of_bare);
    if (part <= exposed * kRounding) {
      continue;
    }
    told += part;
    term.parts.push_back(seconds_term(
        std::string(priced->message.what), part,
        calls_text(*priced) + hides_text(priced->message.hides, facts) +
            (hides
                 ? fmt::format("; {} of {} exposed", percent(of_rest), to_text(all_calls(*priced)))
                 : std::string())));
  }
  if (exposed - told > exposed * kRounding && !term.parts.empty()) {
    term.parts.push_back(seconds_term("of messages too short to list", exposed - told));
  }
}

template <typename Chosen>
std::vector<const step::PricedMessage*> chosen(Axis axis, const step::StageParts& parts,
                                               Chosen&& is_chosen) {
  std::vector<const step::PricedMessage*> list;
  for (const step::PricedMessage& priced : parts.messages) {
    if (step::axis_of(priced.message.group) == axis &&
        priced.message.group != GroupKind::kPipeline && is_chosen(priced.message)) {
      list.push_back(&priced);
    }
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const step::PricedMessage* a, const step::PricedMessage* b) {
                     return all_calls(*a) > all_calls(*b);
                   });
  return list;
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

}  // namespace

Term exposed_term(Axis axis, const step::Estimate& result, const step::StepDetail& detail) {
  const std::string word(describe::word_of<Axis>(step::kAxisWords, axis));
  const Seconds all = result.step.exposed[axis];
  Term term =
      seconds_term("exposed " + word, all,
                   fmt::format("{} of the step; {} more is hidden", percent(all / result.step.step),
                               to_text(result.step.hidden[axis])));
  const auto times = static_cast<double>(result.microbatches);
  Seconds rest = all;
  std::vector<const step::PricedMessage*> once_messages;
  for (const step::StageParts& parts : detail.stages) {
    const step::StageCost& cost = result.step.stages[parts.stage];
    const std::int64_t index = result.stages[parts.stage].index;
    const auto add_pass = [&](std::string_view name, const step::PassCost& pass, auto&& is_chosen) {
      const Seconds exposed = pass.exposed[axis] * times;
      if (exposed <= all * kRounding) {
        return;
      }
      Term part =
          seconds_term(fmt::format("stage {} {}", index, name), exposed,
                       fmt::format("{} x {}", result.microbatches, to_text(pass.exposed[axis])));
      add_messages(chosen(axis, parts, is_chosen), exposed, detail.facts, part);
      rest -= exposed;
      term.parts.push_back(std::move(part));
    };
    add_pass("forward", cost.forward, in_forward);
    add_pass("backward", cost.backward, in_backward);
  }
  for (const step::StageParts& parts : detail.once) {
    const auto more = chosen(axis, parts, once);
    once_messages.insert(once_messages.end(), more.begin(), more.end());
  }
  if (rest <= all * kRounding) {
    return term;
  }
  if (axis == Axis::kPipeline && once_messages.empty()) {
    term.parts.push_back(seconds_term("messages between stages", rest, sends_text(result)));
    return term;
  }
  Term part =
      seconds_term("once a step", rest,
                   axis == Axis::kPipeline ? "messages between stages: " + sends_text(result)
                                           : "gradients, parameters and norms that nothing hides");
  if (axis != Axis::kPipeline) {
    add_messages(once_messages, rest, detail.facts, part);
  }
  term.parts.push_back(std::move(part));
  return term;
}

}  // namespace sextant::explain
