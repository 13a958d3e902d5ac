#include "app/collective_runs.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "base/file.h"
#include "base/sha256.h"
#include "explain/bandwidth_runs.h"
#include "machine/comm_models.h"
#include "measured/comm_groups.h"
#include "measured/hardware.h"
#include "measured/table.h"
#include "validate/measured_comm.h"

namespace sextant::app {
namespace {

using measured::CollectiveSubject;
using measured::Row;

constexpr std::size_t kMostRuns = 6;

struct MatchingRun {
  explain::BandwidthSeries series;
  bool same_network = false;
};

// All that the row itself says, before its device is looked up.
bool may_match(const Row& row, const CollectiveSubject& call,
               const machine::CollectiveQuestion& question) {
  return call.op == question.op && call.ranks == question.ranks && call.healthy &&
         call.concurrent_groups == 1 && call.forced == measured::ForcedAlgorithm::kNone &&
         !row.refusal && row.trust != measured::Trust::kC;
}

Result<bool> same_generation(const std::string& device, const std::string& generation,
                             measured::Hardware& hardware) {
  SEXTANT_TRY(const describe::Device* found, hardware.device(device));
  return found != nullptr && found->generation == generation;
}

bool is_before(const MatchingRun& a, const MatchingRun& b) {
  const auto key = [](const MatchingRun& run) {
    return std::tuple(!run.same_network, -static_cast<std::int64_t>(run.series.measured.size()),
                      std::string_view(run.series.name));
  };
  return key(a) < key(b);
}

}  // namespace

Result<std::vector<explain::BandwidthSeries>> matching_runs(
    const std::vector<Row>& rows, const machine::CollectiveQuestion& question,
    const describe::DataStore& data) {
  const auto group = machine::strided_group(question.ranks, question.stride,
                                            machine::reach_without_network(question.cluster));
  measured::Hardware hardware(data);
  std::map<std::string, MatchingRun> runs;
  for (const Row& row : rows) {
    const auto* call = std::get_if<CollectiveSubject>(&row.subject);
    if (call == nullptr || !call->device || !may_match(row, *call, question)) {
      continue;
    }
    const auto shape = validate::shape_of(*call);
    const auto rate = explain::bus_bandwidth(row, row.measured);
    if (!shape || shape->domains != group.domains || !rate) {
      continue;
    }
    SEXTANT_TRY(const bool same,
                same_generation(*call->device, question.cluster.device.generation, hardware));
    if (!same) {
      continue;
    }
    const std::string name = row.id.substr(0, row.id.find('#'));
    MatchingRun& run = runs[name];
    run.series.name = name;
    run.series.detail = measured::system_of(row);
    run.series.measured.push_back({call->bytes, *rate});
    run.same_network = group.domains == 1 || call->links.fabric == question.cluster.fabric.family;
  }
  std::vector<MatchingRun> ordered;
  for (auto& [name, run] : runs) {
    ordered.push_back(std::move(run));
  }
  std::sort(ordered.begin(), ordered.end(), is_before);
  ordered.resize(std::min(ordered.size(), kMostRuns));
  std::vector<explain::BandwidthSeries> series;
  for (MatchingRun& run : ordered) {
    series.push_back(std::move(run.series));
  }
  return series;
}

Result<MeasuredRuns> read_matching_runs(const std::string& table,
                                        const machine::CollectiveQuestion& question,
                                        const describe::DataStore& data) {
  SEXTANT_TRY(std::string text, read_text(table, measured::kMostTable));
  MeasuredRuns runs;
  runs.input = {table, sha256_hex(text)};
  SEXTANT_TRY(const std::vector<Row> rows, measured::parse_table(std::move(text), table, data));
  SEXTANT_TRY(runs.series, matching_runs(rows, question, data));
  return runs;
}

}  // namespace sextant::app
