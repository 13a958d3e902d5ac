#include "explain/bandwidth_runs.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "explain/file_word.h"
#include "measured/comm_groups.h"

namespace sextant::explain {
namespace {

using measured::CollectiveOp;
using measured::CollectiveSubject;
using measured::CommClass;
using measured::Row;

constexpr std::size_t kFewestSizes = 4;
constexpr std::size_t kMostRuns = 5;

struct Run {
  CollectiveOp op = CollectiveOp::kAllReduce;
  std::int64_t ranks = 0;
  std::string system;
  std::vector<BandwidthPoint> measured;
  std::map<Bytes, std::pair<BytesPerSecond, int>> predicted;  // sum and number at a size

  [[nodiscard]] bool is_worth_a_line() const { return predicted.size() >= kFewestSizes; }
};

// By class, operation, id and ranks.
using RunKey = std::tuple<CommClass, CollectiveOp, std::string, std::int64_t>;

std::map<RunKey, Run> runs_of(const std::vector<Row>& rows,
                              const measured::ValidationReport& report) {
  std::map<RunKey, Run> runs;
  for (std::size_t i = 0; i < rows.size() && i < report.rows.size(); ++i) {
    const Row& row = rows[i];
    const auto* call = std::get_if<CollectiveSubject>(&row.subject);
    const std::optional<double>& predicted = report.rows[i].predicted_value;
    if (call == nullptr || !call->healthy || !predicted || row.trust == measured::Trust::kC) {
      continue;
    }
    const auto seen = bus_bandwidth(row, row.measured);
    const auto foretold = bus_bandwidth(row, *predicted);
    if (!seen || !foretold) {
      continue;
    }
    Run& run = runs[{measured::comm_class(*call), call->op, row.id.substr(0, row.id.find('#')),
                     call->ranks}];
    run.op = call->op;
    run.ranks = call->ranks;
    run.system = measured::system_of(row);
    run.measured.push_back({call->bytes, *seen});
    auto& [sum, number] = run.predicted[call->bytes];
    sum += *foretold;
    ++number;
  }
  return runs;
}

bool has_more_rows(const Run* a, const Run* b) {
  return a->measured.size() > b->measured.size();
}

// The runs drawn for one class, in the order of their operations.
std::vector<const Run*> drawn_runs(const std::map<RunKey, Run>& runs, CommClass kind) {
  std::map<CollectiveOp, const Run*> best;
  for (const auto& [key, run] : runs) {
    if (std::get<0>(key) != kind || !run.is_worth_a_line()) {
      continue;
    }
    const Run*& chosen = best[run.op];
    if (chosen == nullptr || has_more_rows(&run, chosen)) {
      chosen = &run;
    }
  }
  std::vector<const Run*> drawn;
  for (const auto& [op, run] : best) {
    drawn.push_back(run);
  }
  while (drawn.size() > kMostRuns) {
    drawn.erase(std::max_element(drawn.begin(), drawn.end(), has_more_rows));
  }
  return drawn;
}

BandwidthSeries run_series(const Run& run) {
  std::string op(describe::word_of<CollectiveOp>(measured::kCollectiveOpWords, run.op));
  std::replace(op.begin(), op.end(), '_', '-');
  BandwidthSeries series;
  series.name = fmt::format("{}, {} ranks", op, run.ranks);
  series.detail = run.system;
  series.measured = run.measured;
  for (const auto& [bytes, sum] : run.predicted) {
    series.predicted.push_back({bytes, sum.first / sum.second});
  }
  return series;
}

}  // namespace

std::vector<BandwidthPlot> bandwidth_plots(const std::vector<Row>& rows,
                                           const measured::ValidationReport& report) {
  const std::map<RunKey, Run> runs = runs_of(rows, report);
  std::vector<BandwidthPlot> plots;
  for (const auto& [kind, words] : measured::kCommClassWords) {
    BandwidthPlot plot{"bandwidth-" + file_word(words), std::string(words), "bus bandwidth", {}};
    for (const Run* run : drawn_runs(runs, kind)) {
      plot.series.push_back(run_series(*run));
    }
    if (!plot.series.empty()) {
      plots.push_back(std::move(plot));
    }
  }
  return plots;
}

std::optional<BytesPerSecond> bus_bandwidth(const Row& row, double value) {
  const auto* call = std::get_if<CollectiveSubject>(&row.subject);
  if (call == nullptr || call->ranks < 1 || !(value > 0.0)) {
    return std::nullopt;
  }
  if (row.quantity == "busbw_GBps") {
    return value * 1_GBps;
  }
  if (row.quantity == "algbw_GBps") {
    return value * describe::bus_share(call->op, call->ranks) * 1_GBps;
  }
  return row.quantity == "time_us"
             ? std::optional(call->bytes * describe::bus_share(call->op, call->ranks) /
                             (value * 1_us))
             : std::nullopt;
}

}  // namespace sextant::explain
