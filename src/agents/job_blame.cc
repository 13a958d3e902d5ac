#include "agents/job_blame.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"

namespace sextant::agents {
namespace {

using kb::Theme;

constexpr std::size_t kMostBlames = 5;
constexpr double kSmallBlame = 0.01;  // of a step

// Every rule of data/diagnose that speaks of a part of the job (a test holds it to the book).
constexpr std::array<std::pair<std::string_view, Theme>, 39> kRuleThemes{
    {{"allocator-churn", Theme::kMemory},
     {"checkpoint-stall", Theme::kHost},
     {"clock-throttling", Theme::kKernel},
     {"cpu-contention", Theme::kHost},
     {"data-late-rank", Theme::kHost},
     {"eager-attention", Theme::kKernel},
     {"expert-imbalance", Theme::kExpert},
     {"exposed-cp", Theme::kContext},
     {"exposed-dp", Theme::kData},
     {"exposed-ep", Theme::kExpert},
     {"exposed-pp", Theme::kPipeline},
     {"exposed-tp", Theme::kTensor},
     {"gather-then-slice", Theme::kTensor},
     {"hbm-near-limit", Theme::kMemory},
     {"host-busy", Theme::kHost},
     {"host-sync", Theme::kHost},
     {"input-bound", Theme::kHost},
     {"late-rank", Theme::kHost},
     {"launch-bound", Theme::kHost},
     {"memory-bound-epilogues", Theme::kKernel},
     {"missing-tensor-cores", Theme::kPrecision},
     {"needless-recompute", Theme::kMemory},
     {"optimizer-offload", Theme::kMemory},
     {"pageable-copies", Theme::kHost},
     {"pipeline-bubble", Theme::kPipeline},
     {"profiler-overhead", Theme::kHost},
     {"python-gc", Theme::kHost},
     {"recompilation", Theme::kHost},
     {"relayout-copies", Theme::kKernel},
     {"sequence-imbalance", Theme::kBatch},
     {"slow-collective", Theme::kTopology},
     {"slow-kernels", Theme::kKernel},
     {"slow-worker", Theme::kHost},
     {"slower-than-predicted", Theme::kKernel},
     {"small-products", Theme::kBatch},
     {"stage-imbalance", Theme::kPipeline},
     {"straggling-link", Theme::kTopology},
     {"unfused-optimizer", Theme::kKernel},
     {"vocabulary-logits", Theme::kKernel}}};

// "tp=8"; of a part that has no size "".
std::string axis_words(Theme theme, const Standing& standing) {
  if (standing.task == nullptr) {
    return {};
  }
  const describe::Layout& layout = standing.job.layout;
  const std::array<std::pair<Theme, std::int64_t>, 5> sizes{{{Theme::kTensor, layout.tp},
                                                             {Theme::kPipeline, layout.pp},
                                                             {Theme::kData, standing.job.dp()},
                                                             {Theme::kContext, layout.cp},
                                                             {Theme::kExpert, layout.ep}}};
  for (const auto& [axis, size] : sizes) {
    if (axis == theme) {
      return fmt::format("{}={}", describe::word_of<Theme>(kb::kThemeWords, axis), size);
    }
  }
  return {};
}

std::vector<JobBlame> blames_of_findings(const JobCase& asked, const Standing& standing) {
  std::vector<JobBlame> blames;
  if (!asked.run || asked.run->diagnosis == nullptr) {
    return blames;
  }
  const diagnose::Diagnosis& diagnosis = *asked.run->diagnosis;
  for (const diagnose::Finding& finding : diagnosis.findings) {
    if (finding.explained_by || finding.per_step <= Seconds() || diagnosis.step <= Seconds() ||
        blames.size() == kMostBlames) {
      continue;
    }
    JobBlame blame{theme_of_rule(finding.rule), finding.per_step / diagnosis.step, {}};
    const std::string axis = blame.theme ? axis_words(*blame.theme, standing) : std::string();
    blame.sentence = fmt::format("{}{}: {} ({} of {} a step, {})", finding.rule,
                                 axis.empty() ? "" : fmt::format(" ({})", axis), finding.cause,
                                 to_text(finding.per_step), to_text(diagnosis.step),
                                 diagnose::name_of(finding.status));
    blames.push_back(std::move(blame));
  }
  return blames;
}

std::vector<JobBlame> blames_of_model(const step::StepTerms& terms, const Standing& standing) {
  constexpr std::string_view kExposed = "communication that nothing hides";
  const auto blame_of = [&](Theme theme, std::string_view what, Seconds time) {
    const std::string axis = axis_words(theme, standing);
    const double share = time / terms.step;
    return JobBlame{theme, share,
                    fmt::format("{}{}: {} of {} a step ({:.1f} %), predicted", what,
                                axis.empty() ? "" : fmt::format(" of {}", axis), to_text(time),
                                to_text(terms.step), 100.0 * share)};
  };
  std::vector<JobBlame> blames{
      blame_of(Theme::kTensor, kExposed, terms.exposed[step::Axis::kTensor]),
      blame_of(Theme::kContext, kExposed, terms.exposed[step::Axis::kContext]),
      blame_of(Theme::kExpert, kExposed, terms.exposed[step::Axis::kExpert]),
      blame_of(Theme::kPipeline, kExposed, terms.exposed[step::Axis::kPipeline]),
      blame_of(Theme::kData, kExposed, terms.exposed[step::Axis::kData]),
      blame_of(Theme::kPipeline, "the bubble", terms.bubble),
      blame_of(Theme::kHost, "waiting for the host", terms.host)};
  std::erase_if(blames, [](const JobBlame& blame) { return blame.share < kSmallBlame; });
  std::ranges::stable_sort(blames, std::greater<>(), &JobBlame::share);
  blames.resize(std::min(blames.size(), kMostBlames));
  return blames;
}

}  // namespace

std::optional<Theme> theme_of_rule(std::string_view rule) {
  const auto* const at =
      std::ranges::lower_bound(kRuleThemes, rule, {}, &std::pair<std::string_view, Theme>::first);
  return at != kRuleThemes.end() && at->first == rule ? std::optional(at->second) : std::nullopt;
}

std::vector<JobBlame> job_blames(const JobCase& asked, const Standing& standing) {
  std::vector<JobBlame> blames = blames_of_findings(asked, standing);
  if (standing.estimate) {
    std::vector<JobBlame> more = blames_of_model(standing.estimate->step, standing);
    std::ranges::move(more, std::back_inserter(blames));
  }
  return blames;
}

}  // namespace sextant::agents
