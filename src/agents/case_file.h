// A case file: what a profiler reports of a job whose model nobody may see, on a slice of TPUs
// whose JAX mesh has the axes replica, data, seq and model. Any bytes end in a Case or an Error
// with file and line.
//
// clang-format off
//   device = "tpu-v5p"           # of data/devices
//   chips = 512                  # chips or topology, or both, must be there
//   topology = "8x8x8"
//   kind = "training"            # pre-training, fine-tuning, supervised fine-tuning; serving is refused
//   batch = 256                  # sequences a step; a number that nobody knows is "unknown"
//   sequence_length = 8192
//   model = "unknown"            # in words
//   hbm_gib = 95                 # of a chip, where it is not the device's
//   baseline_mesh = { model = 8, data = 8, seq = 8 }   # as it runs; absent: none is known to run
//   profiled_on = { chips = 256, topology = "16x16", mesh = { data = 2 } }  # elsewhere; device too
//   [kpi]                        # step_time_ms, busy_time_ms, duty_cycle, communication_share, mean_all_reduce_us
//   [[top_ops]]                  # name, category, total_time_ps, occurrences, share, bound, efficiency,
//                                # compute_efficiency, memory_utilisation
//   [answer]                     # of a published case: dropped, never looked into
// clang-format on
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/mesh_axes.h"
#include "base/result.h"
#include "base/units.h"
#include "metrics/kpis.h"

namespace sextant::agents {

using Topology = std::array<std::int64_t, 3>;  // chips a side, ascending; 1 where it has none

struct CaseKpis {
  std::optional<Seconds> step = {};
  std::optional<Seconds> busy = {};
  std::optional<double> duty_cycle = {};           // busy over step where it is not told
  std::optional<double> communication_share = {};  // of the step, standard all-reduce alone
  std::optional<Seconds> mean_all_reduce = {};
};

struct CaseOperator {
  std::string name;
  std::string category = {};
  metrics::OperatorBound bound = metrics::OperatorBound::kUnknown;
  double share = 0.0;                     // of the time of all operators
  std::optional<double> efficiency = {};  // of its roof
  std::optional<Seconds> total = {};      // over all chips and steps of the profile
  std::optional<std::int64_t> occurrences = {};
  std::optional<double> compute_efficiency = {};
  std::optional<double> memory_utilisation = {};
};

// Where the profile was recorded, if not on the slice that a mesh is asked for.
struct ProfiledOn {
  std::string device;  // the case's where nothing else is said
  std::int64_t chips = 0;
  std::optional<Topology> topology = {};
  CaseMesh mesh = {};
};

struct Case {
  std::string where;  // the file
  std::string device;
  std::int64_t chips = 0;
  std::optional<Topology> topology = {};
  std::string kind = "training";
  std::optional<std::int64_t> batch = {};  // sequences a step
  std::optional<std::int64_t> sequence_length = {};
  std::string model = {};              // in words; "": not known
  std::optional<double> hbm_gib = {};  // of a chip; nothing: the device's
  std::optional<CaseMesh> baseline = {};
  std::optional<ProfiledOn> profiled = {};
  CaseKpis kpis = {};
  std::vector<CaseOperator> operators = {};
};

// `where` names the file in errors.
Result<Case> read_case(std::string_view text, std::string_view where);

// The same job on another slice of these devices: what was profiled stays where it was. "8x16".
Result<Case> on_topology(Case profiled, std::string_view topology, std::string_view where);

// "8x8x8"
std::string to_text(const Topology& topology);

}  // namespace sextant::agents
