// What must hold of predicted steps: the project's own targets. Shown beside the scores, never
// computed with.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sextant::measured {

enum class RunPart : std::uint8_t { kAll, kDense, kExperts, kAmd, kSelectiveRecompute };

struct RunLimit {
  std::string_view name;
  std::string_view source;  // "": any
  RunPart part = RunPart::kAll;
  double mean = 0.0;
};

inline constexpr std::array<RunLimit, 19> kRunLimits{{
    {"Korthikanti et al. 2022", "megatron_papers", RunPart::kSelectiveRecompute, 0.04},
    {"vtrain_multi", "vtrain_multi", RunPart::kAll, 0.10},
    {"vtrain_single", "vtrain_single", RunPart::kAll, 0.12},
    {"simumax_b200", "simumax_b200", RunPart::kAll, 0.05},
    {"llm_foundry", "llm_foundry", RunPart::kAll, 0.09},
    {"mlperf_pretrain", "mlperf_pretrain", RunPart::kAll, 0.09},
    {"megatron_bridge, dense", "megatron_bridge", RunPart::kDense, 0.11},
    {"nemo, dense", "nemo", RunPart::kDense, 0.11},
    {"nvidia_dgxc, dense", "nvidia_dgxc", RunPart::kDense, 0.11},
    {"megatron_bridge, experts", "megatron_bridge", RunPart::kExperts, 0.16},
    {"nemo, experts", "nemo", RunPart::kExperts, 0.16},
    {"nvidia_dgxc, experts", "nvidia_dgxc", RunPart::kExperts, 0.16},
    {"mlperf_lora", "mlperf_lora", RunPart::kAll, 0.16},
    {"tpu_maxtext", "tpu_maxtext", RunPart::kAll, 0.16},
    {"bloom", "bloom", RunPart::kAll, 0.16},
    {"internevo", "internevo", RunPart::kAll, 0.16},
    {"torchtitan", "torchtitan", RunPart::kAll, 0.16},
    {"vocab_parallel", "vocab_parallel", RunPart::kAll, 0.16},
    {"AMD devices", "", RunPart::kAmd, 0.16},
}};
inline constexpr double kRunMedianLimit = 0.07;
inline constexpr double kRunPredictedLimit = 0.95;
inline constexpr double kCoverageLeast = 0.72;  // of sources with kCoverageRows rows and more
inline constexpr double kCoverageMost = 0.88;
inline constexpr std::int64_t kCoverageRows = 40;
inline constexpr double kScalingLimit = 0.05;
inline constexpr double kKendallLimit = 0.7;
inline constexpr double kRegretLimit = 0.03;
// Systems that a fit did not see: so many times what it scores on those it saw.
inline constexpr double kRunHalvesLimit = 1.3;

}  // namespace sextant::measured
