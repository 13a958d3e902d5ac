// What the rules of a diagnosis ask: summaries of a job's ranks, joined, and what is known of its
// devices. Looked up once for all rules.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "cost/compute/device_model.h"
#include "describe/cluster/device.h"
#include "describe/data_store.h"
#include "diagnose/finding.h"
#include "metrics/kpis.h"
#include "metrics/summary.h"

namespace sextant::diagnose {

// Refers to the summary, which must stay as it is.
struct Scene {
  const metrics::Summary* summary = nullptr;
  metrics::RankTotals totals;          // of all ranks and their kept steps
  Seconds step;                        // mean of these
  PartTimes parts{};                   // of it; they add up to it
  metrics::DevicePeaks peaks;          // unknown where ranks differ
  std::optional<Bytes> device_memory;  // of one device
  // Of all ranks alike; nothing where they differ or are not known.
  std::optional<describe::Device> device;
  std::optional<cost::DeviceModel> kernel_model;  // how long its kernels take
  std::vector<metrics::OperatorRow> operators;    // of all ranks together, as are the following
  std::vector<metrics::KernelRow> kernels;
  std::vector<metrics::CollectiveRow> collectives;
  metrics::WorkTables device_work;
};
// REQUIRES: at least one rank with at least one kept step.
Scene scene_of(const metrics::Summary& summary, const metrics::DevicePeaks& peaks,
               std::optional<Bytes> device_memory);

// What is known of the device of all ranks; how long its kernels take only where that was measured
// on it. An Error where its file of kernels is wrong.
Result<void> know_device(const describe::Device& device, const describe::DataStore& data,
                         Scene& scene);

// Of a mean step of all ranks: what adds up to `total_ns` over their kept steps.
Seconds of_mean_step(const Scene& scene, std::int64_t total_ns);

}  // namespace sextant::diagnose
