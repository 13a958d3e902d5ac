#include <algorithm>

#include <fmt/format.h>

#include "diagnose/device_facts.h"
#include "diagnose/device_rules.h"

namespace sextant::diagnose {
namespace {

using metrics::WorkPart;
using metrics::WorkPass;
using metrics::WorkRow;

bool is_of_scores(const WorkRow& row) {
  return row.part == WorkPart::kScores && row.pass != WorkPass::kAgain;
}

// Softmax over scores, of which no shape is known.
bool is_softmax_without_shape(const WorkRow& row) {
  return row.use == timeline::OperatorUse::kSoftmax && row.inputs.empty() &&
         row.part == WorkPart::kOther;
}

// The widest tensor of scores, for the sentence.
std::string scores_text(const WorkSum& sum) {
  const auto softmax = std::ranges::find_if(sum.rows, [](const WorkRow* row) {
    return row->use == timeline::OperatorUse::kSoftmax && !row->inputs.empty();
  });
  return softmax == sum.rows.end() ? std::string()
                                   : " of " + shapes_text({(*softmax)->inputs.front()});
}

// A fused kernel computes the same products, on matrix units, at most half of them where the mask
// is causal; its scores stay on the chip.
std::optional<Seconds> fused_time(const Scene& scene, const WorkSum& sum) {
  constexpr double kCausal = 0.5;
  Seconds least;
  for (const WorkRow* row : sum.rows) {
    if (row->use != timeline::OperatorUse::kProduct || row->inputs.empty()) {
      continue;
    }
    const auto& element = row->inputs.front().element;
    if (!element) {
      continue;
    }
    const auto format = matrix_format(*element);
    const Flops flops = Flops(row->flops.value() / static_cast<double>(scene.totals.steps));
    const auto time = format ? at_peak(scene, kCausal * flops, *format) : std::nullopt;
    if (!time) {
      return std::nullopt;
    }
    least += *time;
  }
  return least;
}

}  // namespace

Findings attention_findings(const Scene& scene) {
  Findings answer;
  const WorkSum scores = work_sum(scene, is_of_scores);
  if (scores.rows.empty()) {
    if (!work_sum(scene, is_softmax_without_shape).rows.empty() && !has_shapes(scene)) {
      answer.abstained.push_back({"eager-attention", "shapes"});
    }
    return answer;
  }
  const auto least = fused_time(scene, scores);
  if (!least) {
    answer.abstained.push_back({"eager-attention", "device"});
    return answer;
  }
  const Seconds lost = std::max(Seconds(), scores.time - *least);
  if (!is_worth_a_word(scene, lost)) {
    return answer;
  }
  const Seconds gaps = own_gaps(scores.idle, scores.kernels);
  Finding finding{
      .rule = "eager-attention",
      .cause = fmt::format("Attention writes its scores{} to memory: {:.0f} kernels a step take {} "
                           "({}), a fused one needs {} at least.",
                           scores_text(scores), scores.kernels, milliseconds(scores.time),
                           percent_of_step(scene, scores.time), milliseconds(*least)),
      .ranks = {},
      .per_step = lost + gaps,
      .parts = {lost, Seconds(), Seconds(), gaps},
      .status = Status::kVerified,
      .evidence = evidence_of(scene, scores.rows)};
  answer.found.push_back(std::move(finding));
  return answer;
}

}  // namespace sextant::diagnose
