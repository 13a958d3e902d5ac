#include "calibrate/nccl_calibration.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "calibrate/comm_refit.h"
#include "calibrate/nccl_calls.h"
#include "describe/cluster/cluster_inputs.h"
#include "describe/cluster/load_cluster.h"
#include "machine/comm_models.h"
#include "measured/hardware.h"

namespace sextant::calibrate {
namespace {

using cost::TimedCollective;

constexpr std::size_t kMostTimings = 20'000;  // a fit takes minutes then
// Built-in files leave at most 28 %, over many systems: more on one says that something is wrong.
constexpr double kMuchLeft = 0.3;

Result<void> check_counts(const NcclCalls& calls, const Inputs& files) {
  const std::size_t inside = calls.inside.size();
  const std::size_t across = calls.across.size();
  if (inside < kFewestTimings && across < kFewestTimings) {
    return invalid(
        fmt::format("{} usable timings within a scale-up domain and {} over several{}", inside,
                    across, unused_text(calls.unused)),
        files.names,
        "at least 3 of one kind; better one of each operation and group that you train with, such "
        "as all_reduce_perf -b 8 -e 8G -f 2");
  }
  if (std::max(inside, across) > kMostTimings) {
    return invalid(fmt::format("{} timings of one kind", std::max(inside, across)), files.names,
                   fmt::format("at most {}", kMostTimings));
  }
  return {};
}

// What is known of the cluster; a cluster of one domain where no network is asked for.
Result<machine::KnownComm> known_comm(describe::Cluster cluster, bool network,
                                      const describe::DataStore& data) {
  if (!network) {
    cluster.devices = std::min(cluster.devices, machine::reach_without_network(cluster));
  }
  auto known = machine::CommModels(data).of(cluster);
  if (!known) {
    return invalid(known.error().what, cluster.name,
                   "a cluster whose links and network have files in data/comm; a file of your own "
                   "(‹data› FOLDER, FOLDER/comm/links/NAME.toml with your device in its devices) "
                   "can start as a copy of one there");
  }
  return known;
}

void put_known(const machine::KnownComm& known, std::vector<TimedCollective>& calls) {
  for (TimedCollective& call : calls) {
    call.model = known.model;
    call.rate_scale = known.rate_scale;
  }
}

// Fits what the calls are of: the links, then the network with these links.
Result<void> add_fits(NcclCalls& calls, const describe::Cluster& cluster, CommOrigin origin,
                      const describe::DataStore& data, CommCalibration& made) {
  if (!calls.inside.empty()) {
    SEXTANT_TRY(const machine::KnownComm known, known_comm(cluster, false, data));
    put_known(known, calls.inside);
    const CommFile file{true, known.link};
    SEXTANT_TRY(CommChange change, comm_refit(file, origin, calls.inside, data));
    origin.links = change.values;
    add_change(std::move(change), made);
  }
  if (!calls.across.empty()) {
    SEXTANT_TRY(const machine::KnownComm known, known_comm(cluster, true, data));
    put_known(known, calls.across);
    const CommFile file{false, known.network};
    SEXTANT_TRY(CommChange change, comm_refit(file, origin, calls.across, data));
    add_change(std::move(change), made);
  }
  return {};
}

void add_error_warnings(const CommCalibration& made, std::vector<std::string>& warnings) {
  for (const CommClassChange& change : made.classes) {
    if (change.after > kMuchLeft) {
      warnings.push_back(fmt::format(
          "{}: {:.0f} % are left: no constants of {} meet these timings; is {} where they were "
          "measured, with nothing else on it?",
          change.file, 100.0 * change.after, change.name, made.cluster));
    }
  }
}

// Devices that the texts name and the cluster has not.
Result<void> add_device_warnings(const Inputs& files, const describe::Cluster& cluster,
                                 const describe::DataStore& data,
                                 std::vector<std::string>& warnings) {
  measured::Hardware hardware(data);
  std::set<std::string> said;
  for (const NcclText& text : files.texts) {
    for (const measured::NcclTable& table : text.tables) {
      SEXTANT_TRY(const auto id, hardware.device_in_text(table.device));
      if (id && *id != cluster.device.id && said.insert(text.name + *id).second) {
        warnings.push_back(fmt::format("{}: timed on {} ({}), but {} has {}", text.name,
                                       printable(table.device), *id, cluster.name,
                                       cluster.device.id));
      }
    }
  }
  return {};
}

}  // namespace

Result<CommCalibration> nccl_calibration(const Inputs& files, const std::string& cluster,
                                         const describe::DataStore& data) {
  SEXTANT_TRY(const describe::Cluster known, describe::load_cluster(cluster, data));
  SEXTANT_TRY(NcclCalls calls, nccl_calls(files.texts, known));
  SEXTANT_CHECK_OK(check_counts(calls, files));
  leave_out_few("within a scale-up domain", calls.inside, calls.unused);
  leave_out_few("over several scale-up domains", calls.across, calls.unused);
  CommCalibration made;
  made.cluster = known.name;
  SEXTANT_CHECK_OK(
      add_fits(calls, known, {files.names, known.name, {}, known.device.id}, data, made));
  put_inputs(files, data, made);
  for (auto& input : describe::cluster_inputs(known, data)) {
    made.inputs.push_back(std::move(input));
  }
  made.unused.assign(calls.unused.begin(), calls.unused.end());
  made.assumed = known.assumed;
  made.assumed.insert(made.assumed.end(), calls.assumed.begin(), calls.assumed.end());
  made.warnings = std::move(calls.warnings);
  SEXTANT_CHECK_OK(add_device_warnings(files, known, data, made.warnings));
  add_error_warnings(made, made.warnings);
  return made;
}

}  // namespace sextant::calibrate
