#include "diagnose/device_facts.h"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::diagnose {

Seconds spared_idle(const Scene& scene, Seconds idle) {
  using metrics::Signal;
  std::int64_t recording = 0;
  std::int64_t launching = 0;
  for (const metrics::RankSummary& rank : scene.summary->ranks) {
    for (const metrics::SignalRow& row : rank.signals) {
      const bool is_launching = row.signal == Signal::kDispatch || row.signal == Signal::kLatency ||
                                row.signal == Signal::kPython;
      launching += is_launching ? row.idle_ns : 0;
      recording += row.signal == Signal::kRecorder && row.what.empty() ? row.idle_ns : 0;
    }
  }
  return recording > 0 ? std::min(idle, of_mean_step(scene, launching)) : idle;
}

WorkSum work_sum(const Scene& scene, const WorkFilter& filter) {
  WorkSum sum;
  const auto steps = static_cast<double>(scene.totals.steps);
  for (const metrics::WorkRow& row : scene.device_work.rows) {
    if (!filter(row)) {
      continue;
    }
    const Seconds time = of_mean_step(scene, row.time.total_ns);
    sum.time += time;
    sum.idle += of_mean_step(scene, row.idle_ns);
    sum.flops += Flops(row.flops.value() / steps);
    sum.bytes += Bytes(row.bytes.value() / steps);
    sum.calls += static_cast<double>(row.time.count) / steps;
    sum.kernels += static_cast<double>(row.kernels) / steps;
    sum.stated_time += row.stated_flops == row.time.count ? time : Seconds();
    sum.rows.push_back(&row);
  }
  sum.idle = spared_idle(scene, sum.idle);
  return sum;
}

std::optional<Seconds> at_peak(const Scene& scene, Flops flops, describe::DType format) {
  const auto peak = scene.device ? scene.device->peak(format) : std::nullopt;
  return peak ? std::optional(flops / peak->value) : std::nullopt;
}

std::optional<Seconds> at_bandwidth(const Scene& scene, Bytes bytes) {
  return scene.device ? std::optional(bytes / scene.device->memory_bandwidth.value) : std::nullopt;
}

std::optional<describe::DType> matrix_format(timeline::ElementType element) {
  using timeline::ElementType;
  switch (element) {
    case ElementType::kFloat64:
      return describe::DType::kFp64;
    case ElementType::kFloat32:
      return describe::DType::kTf32;
    case ElementType::kFloat16:
      return describe::DType::kFp16;
    case ElementType::kBfloat16:
      return describe::DType::kBf16;
    case ElementType::kFloat8E4m3:
    case ElementType::kFloat8E5m2:
      return describe::DType::kFp8;
    case ElementType::kInt8:
      return describe::DType::kInt8;
    case ElementType::kInt64:
    case ElementType::kInt32:
    case ElementType::kInt16:
    case ElementType::kUint8:
    case ElementType::kBool:
      break;
  }
  return std::nullopt;
}

bool is_worth_a_word(const Scene& scene, Seconds per_step) {
  return per_step >= kLeastShare * scene.step;
}

Seconds own_gaps(Seconds idle, double kernels) {
  return std::min(idle, kernels * kMostGap);
}

std::vector<Evidence> evidence_of(const Scene& scene,
                                  const std::vector<const metrics::WorkRow*>& rows) {
  std::vector<Evidence> evidence;
  if (scene.summary->ranks.empty()) {
    return evidence;
  }
  // Rows of the scene are of all ranks; moments stand in those of one.
  const metrics::RankSummary& rank = scene.summary->ranks.front();
  for (const metrics::WorkRow* row : rows) {
    const auto same = std::ranges::find_if(rank.device_work.rows, [&](const metrics::WorkRow& one) {
      return one.pass == row->pass && one.part == row->part && one.name == row->name &&
             one.unit == row->unit && one.inputs == row->inputs;
    });
    if (same != rank.device_work.rows.end() && evidence.size() < kMostEvidence) {
      evidence.push_back({rank.rank, same->longest, same->name});
    }
  }
  return evidence;
}

std::string shapes_text(const std::vector<timeline::Tensor>& inputs) {
  std::string text;
  for (const timeline::Tensor& input : inputs) {
    if (input.dims.empty()) {
      continue;
    }
    std::string element(input.element ? timeline::format_of(*input.element).torch
                                      : std::string_view("?"));
    std::ranges::transform(element, element.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    text +=
        fmt::format("{}{}[{}]", text.empty() ? "" : " × ", element, fmt::join(input.dims, ", "));
  }
  return text;
}

std::string milliseconds(Seconds time) {
  return fmt::format("{:.3g} ms", time / 1_ms);
}

std::string percent_of_step(const Scene& scene, Seconds time) {
  return fmt::format("{:.1f} %", 100.0 * (time / scene.step));
}

bool has_shapes(const Scene& scene) {
  return std::ranges::all_of(scene.summary->ranks,
                             [](const metrics::RankSummary& rank) { return rank.has_shapes; });
}

}  // namespace sextant::diagnose
