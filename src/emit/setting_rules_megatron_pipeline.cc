// Megatron's rules about how layers become stages.
#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "base/integers.h"
#include "base/text.h"
#include "describe/layout/rule_nearest.h"
#include "emit/megatron_pipeline_layout.h"
#include "emit/setting_rules_view.h"

namespace sextant::emit {
namespace {

// Layers, and the places that embedding and loss take where they are counted.
std::int64_t counted_layers(const Asked& asked) {
  const std::int64_t layers =
      asked.say.number("num_layers").value_or(asked.job.model.layer_count());
  return std::clamp<std::int64_t>(layers, 0, 1'000'000) +
         (asked.say.on("account_for_embedding_in_pipeline_split") ? 1 : 0) +
         (asked.say.on("account_for_loss_in_pipeline_split") ? 1 : 0);
}

void check_one_way(const Asked& asked) {
  constexpr std::array<std::string_view, 3> kWays{"num_layers_per_virtual_pipeline_stage",
                                                  "num_virtual_stages_per_pipeline_rank",
                                                  "pipeline_model_parallel_layout"};
  std::vector<std::string> said;
  for (const std::string_view way : kWays) {
    if (asked.say.given(way)) {
      said.emplace_back(way);
    }
  }
  if (said.size() > 1) {
    asked.broken("MEGATRON-VPP-ONE-WAY", join(said, " and ") + " together",
                 {"only " + said.front()});
  }
}

void check_virtual_layers(const Asked& asked) {
  const auto chunk = asked.say.number("num_layers_per_virtual_pipeline_stage");
  const std::int64_t pp = asked.job.layout.pp;
  const std::int64_t layers = counted_layers(asked);
  if (!chunk || (*chunk > 0 && layers % pp == 0 && layers / pp % *chunk == 0)) {
    return;
  }
  asked.broken(
      "MEGATRON-VIRTUAL-LAYERS",
      fmt::format("{} layers do not make virtual stages of {} on pp={}", layers, *chunk, pp),
      describe::nearest_divisors("num_layers_per_virtual_pipeline_stage",
                                 std::max<std::int64_t>(layers / pp, 1), *chunk));
}

void check_first_last(const Asked& asked) {
  const SettingsView& say = asked.say;
  const auto first = say.number("decoder_first_pipeline_num_layers");
  const auto last = say.number("decoder_last_pipeline_num_layers");
  const describe::Layout& at = asked.job.layout;
  if ((!first && !last) || at.pp == 1) {
    return;
  }
  const bool counted = say.on("account_for_embedding_in_pipeline_split") ||
                       say.on("account_for_loss_in_pipeline_split");
  const std::int64_t layers = say.number("num_layers").value_or(asked.job.model.layer_count());
  const std::int64_t ends = (first ? 1 : 0) + (last ? 1 : 0);
  // Hostile sizes stay far from overflow.
  const std::int64_t middle = std::clamp<std::int64_t>(layers, 0, 1'000'000) -
                              std::clamp<std::int64_t>(first.value_or(0), 0, 1'000'000) -
                              std::clamp<std::int64_t>(last.value_or(0), 0, 1'000'000);
  const std::int64_t ranks = at.pp - ends;
  const bool uneven_ends = first.value_or(0) % at.vpp != 0 || last.value_or(0) % at.vpp != 0;
  const bool uneven_middle =
      middle < 0 ||
      (ranks == 0 ? middle != 0 : middle % ranks != 0 || middle / ranks % at.vpp != 0);
  if (counted || uneven_ends || uneven_middle) {
    asked.broken("MEGATRON-FIRST-LAST",
                 counted ? std::string("counts of the first or last stage beside account_for_*")
                         : fmt::format("{} layers on the first stage and {} on the last leave {} "
                                       "for {} ranks of {} chunks",
                                       first.value_or(0), last.value_or(0), middle, ranks, at.vpp),
                 {"pipeline_model_parallel_layout"});
  }
}

// The text with the letters of decoder and prediction layers exchanged: what is counted then are
// the prediction layers.
std::string with_parts_swapped(std::string text) {
  for (char& part : text) {
    part = part == 't' ? 'm' : part == 'm' ? 't' : part;
  }
  return text;
}

// What is wrong with the stages, or nothing.
std::string wrong_stages(const Asked& asked, const std::vector<std::int64_t>& decoders,
                         const std::vector<std::int64_t>& predictors) {
  const std::int64_t pp = asked.job.layout.pp;
  const auto stages = static_cast<std::int64_t>(decoders.size());
  if (stages % pp != 0) {
    return fmt::format("{} stages are no multiple of pp={}", stages, pp);
  }
  const auto total = [](const std::vector<std::int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  };
  const std::int64_t layers =
      asked.say.number("num_layers").value_or(asked.job.model.layer_count());
  if (total(decoders) != layers) {
    return fmt::format("{} t for {} layers", total(decoders), layers);
  }
  const std::int64_t expected =
      asked.say.number("mtp_num_layers").value_or(asked.job.model.mtp_layers);
  if (total(predictors) != expected) {
    return fmt::format("{} m for {} MTP layers", total(predictors), expected);
  }
  if (expected == 0) {
    return {};
  }
  const auto at = std::find_if(predictors.begin(), predictors.end(),
                               [](std::int64_t count) { return count > 0; }) -
                  predictors.begin();
  const bool together = predictors[static_cast<std::size_t>(at)] == expected;
  const bool decoders_follow = std::any_of(decoders.begin() + at + 1, decoders.end(),
                                           [](std::int64_t count) { return count > 0; });
  if (!together || decoders_follow || at < stages - pp || (pp > 1 && at % pp == 0)) {
    return "m not together after all t in the last chunk of a rank other than the first";
  }
  return {};
}

void check_layout_text(const Asked& asked) {
  const std::string text = asked.say.text("pipeline_model_parallel_layout");
  if (text.empty()) {
    return;
  }
  const auto decoders = parse_pipeline_layout(text);
  const auto predictors = parse_pipeline_layout(with_parts_swapped(text));
  const std::string wrong = decoders && predictors
                                ? wrong_stages(asked, *decoders, *predictors)
                                : (decoders ? predictors : decoders).error().what;
  if (!wrong.empty()) {
    asked.broken("MEGATRON-LAYOUT-STRING", wrong);
  }
}

void check_hybrid_pattern(const Asked& asked) {
  const std::string pattern = asked.say.text("hybrid_layer_pattern");
  const std::int64_t pp = asked.job.layout.pp;
  // What follows '/' are MTP patterns, which fill no stage. Without '|' Megatron cuts by itself.
  const std::string_view main = std::string_view(pattern).substr(0, pattern.find('/'));
  const auto segments = std::count(main.begin(), main.end(), '|') + 1;
  if (segments > 1 && segments % pp != 0) {
    asked.broken("MEGATRON-HYBRID-PATTERN",
                 fmt::format("{} segments are no multiple of pp={}", segments, pp),
                 describe::nearest_divisors("pp", segments, pp));
  }
}

}  // namespace

void check_megatron_pipeline(const Asked& asked) {
  check_one_way(asked);
  check_virtual_layers(asked);
  check_first_last(asked);
  check_layout_text(asked);
  check_hybrid_pattern(asked);
}

}  // namespace sextant::emit
