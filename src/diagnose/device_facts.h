// What rules about the device look up in a scene: sums of rows of its work, and the least time that
// an amount of work takes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/finding.h"
#include "diagnose/scene.h"

namespace sextant::diagnose {

// Rows of work of one kind, of a mean step.
struct WorkSum {
  Seconds time;
  Seconds idle;  // of the device, before them; what sparing them can gain of it
  Flops flops;   // of those that say
  Bytes bytes;
  double calls = 0.0;
  double kernels = 0.0;
  Seconds stated_time;                        // of rows that say FLOPs in every call
  std::vector<const metrics::WorkRow*> rows;  // the longest first
};
// What sparing work can gain at most of the idle time before it: the host, with less to launch, is
// ahead for the rest too, but no more than all late launches cost without the recorder.
Seconds spared_idle(const Scene& scene, Seconds idle);
using WorkFilter = std::function<bool(const metrics::WorkRow&)>;
WorkSum work_sum(const Scene& scene, const WorkFilter& filter);

// The least time: at the device's datasheet rate. Nothing where that is not known.
std::optional<Seconds> at_peak(const Scene& scene, Flops flops, describe::DType format);
std::optional<Seconds> at_bandwidth(const Scene& scene, Bytes bytes);

// The format in which matrix units take such elements; fp32 runs as TF32.
std::optional<describe::DType> matrix_format(timeline::ElementType element);

// Below what a step varies by from one to the next nothing is worth a word. Source: step_ms_min and
// step_ms_max about the medians of truth/h200/train_steps.csv, device-bound rows: 0.3 to 1.5 %.
inline constexpr double kLeastShare = 0.01;
bool is_worth_a_word(const Scene& scene, Seconds per_step);

// What a device takes by itself from one kernel to the next, at most: so much of the idle time
// before kernels goes with them, the rest is the host's. Source: `between kernels` of the H200
// profiles, 0.7 to 1.9 us a kernel.
inline constexpr Seconds kMostGap = 2_us;
Seconds own_gaps(Seconds idle, double kernels);

// Where the longest of these rows ran longest, a row each, on the first rank.
std::vector<Evidence> evidence_of(const Scene& scene,
                                  const std::vector<const metrics::WorkRow*>& rows);

// "bf16[8192, 2048] × bf16[2048, 5504]"; of what has no shapes: "".
std::string shapes_text(const std::vector<timeline::Tensor>& inputs);
std::string milliseconds(Seconds time);  // "12.3 ms"
std::string percent_of_step(const Scene& scene, Seconds time);

// Whether all ranks' shapes were recorded.
bool has_shapes(const Scene& scene);

}  // namespace sextant::diagnose
