// How many layers each pipeline stage holds, where the row does not deal them evenly.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/assumption.h"
#include "describe/layout/pipeline_split.h"
#include "measured/row_tools.h"
#include "measured/run_layout.h"
#include "measured/run_words.h"

namespace sextant::measured {

namespace {

using describe::PipelineSplit;

constexpr std::size_t kMostPlaces = 10'000;

// "*14" at `at`: the factor, and `at` moved behind it; 1 where there is none.
std::size_t factor_at(std::string_view text, std::size_t& at) {
  if (at >= text.size() || text[at] != '*') {
    return 1;
  }
  std::size_t end = at + 1;
  while (end < text.size() && is_digit(text[end])) {
    ++end;
  }
  const auto factor = to_integer(text.substr(at + 1, end - at - 1));
  at = end;
  return factor && *factor > 0 && *factor <= static_cast<std::int64_t>(kMostPlaces)
             ? static_cast<std::size_t>(*factor)
             : 0;
}

// Undoes "x*n" and "(xyz)*n"; groups do not nest. "" where the text is not of that form.
std::string expanded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::string_view unit = text.substr(at, 1);
    if (text[at] == '(') {
      const std::size_t close = text.find(')', at);
      if (close == std::string_view::npos) {
        return {};
      }
      const std::string inner = expanded(text.substr(at + 1, close - at - 1));
      at = close + 1;
      const std::size_t times = factor_at(text, at);
      for (std::size_t n = 0; n < times && out.size() <= kMostPlaces; ++n) {
        out += inner;
      }
      continue;
    }
    ++at;
    const std::size_t times = factor_at(text, at);
    if (out.size() + times > kMostPlaces) {
      return {};
    }
    for (std::size_t n = 0; n < times; ++n) {
      out += unit;
    }
  }
  return out.size() > kMostPlaces ? std::string() : out;
}

// The last stage holds `last` layers; the others share the rest, later ones one more where it is
// uneven.
std::vector<std::int64_t> with_last_stage(std::int64_t layers, std::int64_t stages,
                                          std::int64_t last) {
  const std::int64_t others = stages - 1;
  const std::int64_t rest = layers - last;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(stages), rest / others);
  for (std::int64_t heavier = 0; heavier < rest % others; ++heavier) {
    ++counts[static_cast<std::size_t>(others - 1 - heavier)];
  }
  counts.back() = last;
  return counts;
}

// The last stage's layers such that no stage works longer than it must, the output layer counted by
// its products: a layer has 12 h² + attention, the head h·V.
std::int64_t balanced_last_stage(const RunCells& run, const describe::Model& model,
                                 std::int64_t stages) {
  const double hidden = static_cast<double>(model.hidden);
  const double layer = 12.0 * hidden * hidden + 2.0 * hidden * static_cast<double>(stated(run.seq));
  const double head = hidden * static_cast<double>(model.vocab);
  const std::int64_t layers = model.layer_count();
  std::int64_t best = 0;
  double shortest = 0.0;
  for (std::int64_t last = 0; last <= layers / stages; ++last) {
    const std::int64_t others = (layers - last + stages - 2) / (stages - 1);
    const double longest =
        std::max(static_cast<double>(last) * layer + head, static_cast<double>(others) * layer);
    if (last == 0 || longest <= shortest) {
      best = last;
      shortest = longest;
    }
  }
  return best;
}

std::optional<std::int64_t> stated_last_stage(const RunCells& run, const describe::Model& model,
                                              std::int64_t stages, describe::Assumptions& assumed) {
  const Flags flags(run.flags);
  if (const auto setting = flags.value("layers on last stage setting")) {
    return to_integer(*setting);
  }
  if (flags.mention("redistributed away from the output-layer stage") && run.seq) {
    const std::int64_t last = balanced_last_stage(run, model, stages);
    assumed.push_back(
        {"layers_per_stage", fmt::format("{} on the last", last), "balanced by products", {}});
    return last;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::int64_t> stages_of_pipeline_layout(std::string_view text) {
  const std::string places = expanded(text);
  std::vector<std::int64_t> counts;
  if (places.empty()) {
    return counts;
  }
  for (const std::string_view stage : split(places, '|')) {
    counts.push_back(std::count(stage.begin(), stage.end(), 't'));
  }
  return counts;
}

PipelineSplit run_split(const RunCells& run, const describe::Model& model,
                        const describe::Layout& layout, describe::Assumptions& assumed) {
  PipelineSplit split;
  const std::int64_t stages = layout.stages();
  const std::int64_t layers = model.layer_count();
  if (stages <= 1) {
    return split;
  }
  const Flags flags(run.flags);
  if (const auto text = flags.value("pp_layout")) {
    split.layers_per_stage = stages_of_pipeline_layout(*text);
    describe::Layout explicit_layout = layout;
    explicit_layout.split = split;
    if (describe::layers_of_stages(layers, explicit_layout)) {
      return split;
    }
    split.layers_per_stage.clear();
  }
  const auto last = stated_last_stage(run, model, stages, assumed);
  if (last && *last >= 0 && *last <= layers) {
    split.layers_per_stage = with_last_stage(layers, stages, *last);
    return split;
  }
  if (layers % stages == 0) {
    return split;
  }
  // Recipes with MTP layers fill every stage and leave the remainder to the last, which also holds
  // MTP and loss. Source: Megatron-Bridge, DeepSeek-V3 recipes, pipeline layouts for pp = 4, 8, 16.
  const std::int64_t most = (layers + stages - 1) / stages;
  if (model.mtp_layers > 0 && layers >= most * (stages - 1)) {
    split.layers_per_stage.assign(static_cast<std::size_t>(stages), most);
    split.layers_per_stage.back() = layers - most * (stages - 1);
    assumed.push_back({"layers_per_stage",
                       fmt::format("{}, {} on the last", most, split.layers_per_stage.back()),
                       "the last holds MTP and loss", "Megatron-Bridge, DeepSeek-V3 recipes"});
    return split;
  }
  split = describe::plausible_split(layers, stages);
  if (split.count_loss) {
    assumed.push_back(
        {"layers_per_stage", split.count_embedding ? "emb+loss" : "loss", "counted as layers", {}});
  } else {
    assumed.push_back({"layers_per_stage",
                       "uneven, lighter at the ends",
                       fmt::format("{} layers, {} stages", layers, stages),
                       {}});
  }
  return split;
}

}  // namespace sextant::measured
