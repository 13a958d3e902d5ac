// What is recommended, in words: the layout for people, what it gives up and for what.
#include <algorithm>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "describe/layout/layout_words.h"
#include "explain/percent.h"
#include "explain/plan_parts.h"

namespace sextant::explain {
namespace {

using search::Burden;
using sextant::to_text;

std::string chunks_phrase(const describe::Layout& at) {
  std::string text = fmt::format("pp {}", at.pp);
  if (at.vpp > 1) {
    text += fmt::format(" × {} chunks", at.vpp);
  }
  const auto& layers = at.split.layers_per_stage;
  if (!layers.empty()) {
    const auto [least, most] = std::ranges::minmax(layers);
    text += least == most ? fmt::format(" of {} layers", least)
                          : fmt::format(" of {} to {} layers", least, most);
  }
  if (at.split.count_embedding || at.split.count_loss) {
    text += ", embedding and loss counted as layers";
  }
  return text;
}

std::string sharding_phrase(const describe::Layout& at) {
  using describe::Zero;
  std::string text;
  switch (at.zero) {
    case Zero::kNone:
      return text;
    case Zero::kOptimizer:
      text = "optimizer sharded";
      break;
    case Zero::kGradients:
      text = "optimizer and gradients sharded";
      break;
    case Zero::kParameters:
      text = at.reshard_after_forward ? "all states sharded" : "all states sharded, kept gathered";
      break;
  }
  return at.zero_group > 0 ? fmt::format("{} over {} ranks", text, at.zero_group) : text;
}

std::string hidden_phrase(const describe::Layout& at) {
  std::vector<std::string> names;
  for (const describe::Overlap what : at.overlap) {
    names.emplace_back(describe::word_of<describe::Overlap>(describe::kOverlapWords, what));
  }
  return "hides " + join(names, ", ");
}

// One reason for each term in which the plan is simpler, the weightiest first.
std::vector<std::string> simpler_in(const PlanRecommended& chosen) {
  const describe::Layout& at = chosen.row.layout;
  std::vector<std::pair<int, std::string>> reasons;
  const auto add = [&](Burden burden, std::string words) {
    if (const int less = chosen.winners[burden] - chosen.own[burden]; less > 0) {
      reasons.emplace_back(-less, std::move(words));
    }
  };
  add(Burden::kCut, at.pp > 1 ? "stages of one length" : "no stages");
  add(Burden::kChunks, at.vpp > 1 ? fmt::format("{} chunks a rank", at.vpp) : "one chunk a rank");
  add(Burden::kUnmeasured, "closer to what was measured");
  add(Burden::kMemory, "memory for the allocator to spare");
  add(Burden::kContexts, "no context parallelism");
  add(Burden::kAxes, "fewer axes");
  add(Burden::kSwitches, "fewer switches");
  std::ranges::stable_sort(reasons, {}, &std::pair<int, std::string>::first);
  std::vector<std::string> words;
  for (auto& [weight, reason] : reasons) {
    words.push_back(std::move(reason));
  }
  return words;
}

std::string why_winner(const PlanRecommended& chosen) {
  switch (chosen.why) {
    case Recommending::kSimpler:
    case Recommending::kObjective:
      break;
    case Recommending::kFastest:
      return fmt::format("nothing: no simpler layout is within {:.2g} % of it",
                         search::kMostGivenUp * 100.0);
    case Recommending::kInTime:
      return "nothing: it is the fastest; a simpler one misses the deadline";
    case Recommending::kStopped:
      return "not known: stopped before simpler layouts were looked for";
  }
  return {};
}

}  // namespace

std::string layout_phrase(const search::PlanRow& row) {
  const describe::Layout& at = row.layout;
  std::vector<std::string> parts;
  const auto add_size = [&](std::string_view name, std::int64_t size) {
    if (size > 1) {
      parts.push_back(fmt::format("{} {}", name, size));
    }
  };
  add_size("tp", at.tp);
  add_size("cp", at.cp);
  if (at.pp > 1) {
    parts.push_back(chunks_phrase(at));
  }
  add_size("ep", at.ep);
  add_size("etp", at.etp);
  add_size("dp", row.dp);
  parts.push_back(fmt::format("{} sequence{} a microbatch", at.mbs, at.mbs == 1 ? "" : "s"));
  if (std::string sharded = sharding_phrase(at); !sharded.empty()) {
    parts.push_back(std::move(sharded));
  }
  if (at.recompute.granularity != describe::Recompute::kNone) {
    parts.push_back("recomputes " + describe::value_of(at, "recompute"));
  }
  if (!at.overlap.empty()) {
    parts.push_back(hidden_phrase(at));
  }
  return join(parts, " · ");
}

std::vector<std::pair<std::string_view, std::string>> recommending_lines(const PlanAnswer& answer) {
  if (!answer.recommended) {
    return {};
  }
  const PlanRecommended& chosen = *answer.recommended;
  if (chosen.why != Recommending::kSimpler) {
    const std::string why = why_winner(chosen);
    return why.empty() ? std::vector<std::pair<std::string_view, std::string>>()
                       : std::vector<std::pair<std::string_view, std::string>>{{"gives up", why}};
  }
  const search::PlanRow& fastest = answer.plans.front();
  const Seconds step = fastest.result.step.step;
  const Seconds longer = chosen.row.result.step.step - step;
  return {{"gives up",
           fmt::format("{} ({}) to the fastest, which cannot be told apart ({:.2f} … {:.2f} × its "
                       "speed), for {} ({} points against {})",
                       to_text(longer), percent(longer / step), chosen.difference.low,
                       chosen.difference.high, join(simpler_in(chosen), ", "), chosen.own.total(),
                       chosen.winners.total())},
          {"fastest", fmt::format("{}: {}", to_text(step), fastest.words)}};
}

}  // namespace sextant::explain
