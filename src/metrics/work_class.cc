#include "metrics/work_class.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "metrics/tables.h"

namespace sextant::metrics {
namespace {

using timeline::SpanKind;

// flash-attention: flash_fwd_kernel, FlashAttnFwdSm90; cuDNN: …native_sdpa_sm90_flash_fprop;
// xFormers and AMD's CK: fmha; Triton's and FlexAttention's: _attn_fwd,
// triton_tem_fused_flex_attention; PyTorch's operators: aten::_scaled_dot_product_…_attention.
constexpr std::array<std::string_view, 6> kAttentionParts{"attn", "attention", "fmha",
                                                          "sdpa", "flash_fwd", "flash_bwd"};
// CUTLASS: GemmGrouped, GroupProblemShape; megablocks' and DeepGEMM's grouped_gemm; PyTorch:
// aten::_grouped_mm; Transformer Engine: _GroupedLinear; Megatron: GroupedMLP; torchtitan:
// GroupedExperts; vLLM's and TensorRT-LLM's fused_moe.
constexpr std::array<std::string_view, 9> kExpertParts{
    "groupedgemm", "grouped_gemm",  "gemmgrouped",       "grouped_mm", "groupedlinear",
    "groupedmlp",  "groupedexpert", "groupproblemshape", "fused_moe"};

std::string lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

template <typename Parts>
bool has_any(const std::string& text, const Parts& parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string::npos; });
}

// Where nothing launched it: no number of a label.
constexpr std::int64_t kNoLauncher = -1;

// What launched a kernel: as its source says, else the operator of label `by`.
std::string_view launcher_of(const timeline::Timeline& timeline, const timeline::Label& kernel,
                             std::int64_t by) {
  if (kernel.operation) {
    return kernel.operation->name;
  }
  return by == kNoLauncher ? std::string_view()
                           : timeline.labels()[static_cast<std::size_t>(by)].name;
}

}  // namespace

WorkClass work_class(std::string_view kernel, std::string_view launched_by) {
  // The kernel's own name says more than what launched it: a module's range may hold both.
  for (const std::string& name : {lower(kernel), lower(launched_by)}) {
    if (has_any(name, kExpertParts)) {
      return WorkClass::kExperts;
    }
    if (has_any(name, kAttentionParts)) {
      return WorkClass::kAttention;
    }
  }
  return WorkClass::kOther;
}

std::vector<WorkTimes> work_times(const View& view, const RankLanes& rank, const Steps& steps,
                                  std::size_t rank_number) {
  std::vector<WorkTimes> times(steps.ranks[rank_number].steps.size());
  if (!rank.has_device()) {
    return times;
  }
  const timeline::Timeline& timeline = view.timeline();
  const std::vector<std::uint32_t> operator_of = operators_of_calls(view, rank);
  const auto label_of = [&](std::uint32_t span) {
    return timeline.occurrence_of(timeline.spans()[span]).label.value;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, WorkClass> known;  // by labels
  for (const timeline::LaneId lane : rank.streams) {
    for (const timeline::Span& span : timeline.spans_of(lane)) {
      const std::uint32_t number = view.number_of(span);
      const std::uint32_t step = steps.step_of[number];
      const timeline::Label& label = timeline.label_of(span);
      if (step == kNone || label.kind != SpanKind::kCompute) {
        continue;
      }
      const std::uint32_t call = view.call_of[number];
      const std::uint32_t by = call == kNone ? kNone : operator_of[call];
      const std::int64_t by_label = by == kNone ? kNoLauncher : label_of(by);
      const auto [at, is_new] = known.try_emplace({label_of(number), by_label});
      if (is_new) {
        at->second = work_class(label.name, launcher_of(timeline, label, by_label));
      }
      times[step][static_cast<std::size_t>(at->second)] += span.duration_ns;
    }
  }
  return times;
}

}  // namespace sextant::metrics
