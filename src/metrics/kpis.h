// The figures that users of xprof read, from what was measured (definitions: docs/metrics.md). What
// a profile or the caller does not say stays unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "metrics/measure.h"

namespace sextant::metrics {

// What the device can do; nothing where nobody says.
struct DevicePeaks {
  std::optional<FlopsPerSecond> compute;
  std::optional<BytesPerSecond> memory;
  std::optional<BytesPerSecond> on_chip;
};

struct Kpis {
  Seconds step;  // mean of the kept steps, as are the following
  Seconds busy;
  double duty_cycle = 0.0;                   // busy over step; waiting inside a collective is busy
  std::optional<double> flops_utilisation;   // FLOPs that the profile states, over peak
  std::optional<double> memory_utilisation;  // bytes that its operators state, over peak
  std::optional<double> mfu;                 // FLOPs of the model's step (the caller's), over peak
  std::optional<double> goodput;             // ideal time of the operators, over the step
  std::optional<Seconds> mean_all_reduce;    // of one
  // Time of one mean all-reduce over the step: what ASAP's Analyzer calls communication.
  std::optional<double> all_reduce_share;
  double standard_communication_share = 0.0;  // moments' sum of the operations with a name
  double communication_share = 0.0;           // moments at which anything communicates
  double exposed_share = 0.0;                 // and nothing computes
};
// `model_flops`: of one step on this rank. Nothing of no steps.
std::optional<Kpis> kpis(const RankMeasures& rank, const DevicePeaks& peaks,
                         std::optional<Flops> model_flops = std::nullopt);
// The same of what is added up: of summaries, of several ranks.
std::optional<Kpis> kpis(const RankTotals& sum, const std::vector<OperatorRow>& operators,
                         const std::vector<CollectiveRow>& collectives, const DevicePeaks& peaks,
                         std::optional<Flops> model_flops = std::nullopt);

enum class OperatorBound : std::uint8_t { kCompute, kMemory, kOnChip, kUnknown };
std::string_view name_of(OperatorBound bound);

struct OperatorRoofline {
  std::string name;
  std::string category;
  std::int64_t occurrences = 0;
  Seconds total;
  double share = 0.0;  // of all operators' time
  OperatorBound bound = OperatorBound::kUnknown;
  std::optional<FlopsPerSecond> rate;
  std::optional<BytesPerSecond> bandwidth;
  std::optional<FlopsPerByte> intensity;
  std::optional<Seconds> ideal;      // the larger of FLOPs over peak and bytes over bandwidth
  std::optional<double> efficiency;  // ideal over total
  std::optional<Seconds> wasted;     // total less ideal
};
// The `most` that take longest. An operator of which some occurrences say nothing is unknown.
std::vector<OperatorRoofline> top_operators(const RankMeasures& rank, const DevicePeaks& peaks,
                                            std::size_t most);
std::vector<OperatorRoofline> top_operators(const std::vector<OperatorRow>& operators,
                                            const DevicePeaks& peaks, std::size_t most);

}  // namespace sextant::metrics
