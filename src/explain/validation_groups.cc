#include "explain/validation_groups.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "explain/file_word.h"
#include "measured/comm_groups.h"
#include "measured/table.h"

namespace sextant::explain {
namespace {

using measured::Row;
using measured::TableKind;

// A quantity of the tables: how its plot's name ends ("" where it is what the tables are about),
// and what its axes say.
struct PlottedQuantity {
  std::string_view name;
  std::string_view suffix;
  std::string_view words;
  std::string_view unit;
};
constexpr std::array<PlottedQuantity, 23> kQuantities{{
    {"time_us", "", "time", "µs"},
    {"step_time_s", "", "step time", "s"},
    {"step_ms", "", "step time", "ms"},
    {"step_ms_median", "", "step time", "ms"},
    {"iteration_ms", "", "iteration time", "ms"},
    {"fwd_ms", "phases", "time", "ms"},
    {"bwd_ms", "phases", "time", "ms"},
    {"opt_ms", "phases", "time", "ms"},
    {"peak_gib", "", "peak memory", "GiB"},
    {"mem_gib", "memory", "memory", "GiB"},
    {"state_gib", "state", "size of states", "GiB"},
    {"after_forward_gib", "after-forward", "memory after forward", "GiB"},
    {"reserved_gib", "reserved", "reserved memory", "GiB"},
    {"bytes", "", "traffic of a step", "bytes"},
    {"measured_efficiency", "", "share of peak", ""},
    {"efficiency_of_theoretical_busbw", "", "share of bus bandwidth", ""},
    {"busbw_GBps", "bus-bandwidth", "bus bandwidth", "GB/s"},
    {"algbw_GBps", "bandwidth", "bandwidth", "GB/s"},
    {"bandwidth_GBps", "bandwidth", "bandwidth", "GB/s"},
    {"tflops_per_device", "flops", "rate of a device", "TFLOP/s"},
    {"tokens_per_s_per_device", "tokens", "tokens of a device", "1/s"},
    {"mfu_pct", "mfu", "share of peak", "%"},
    {"makespan", "", "makespan", "slots"},
}};

// Kinds of tables whose plots are not named by the kind's own word.
struct Family {
  TableKind kind = TableKind::kRuns;
  std::string_view name;
};
constexpr std::array<Family, 3> kFamilies{{{TableKind::kGpuKernels, "kernels"},
                                           {TableKind::kShardedMemory, "memory"},
                                           {TableKind::kEpAllToAll, "EP all-to-all"}}};

// A series and its place in the legend; those of one place stand by name.
struct SeriesKey {
  std::size_t place = 0;
  std::string name;

  friend bool operator<(const SeriesKey& a, const SeriesKey& b) {
    return std::pair(a.place, std::string_view(a.name)) <
           std::pair(b.place, std::string_view(b.name));
  }
};

template <std::size_t N>
SeriesKey in_order(const std::array<std::string_view, N>& order, std::string_view name) {
  const auto* const found = std::find(order.begin(), order.end(), name);
  return {static_cast<std::size_t>(found - order.begin()), std::string(name)};
}

SeriesKey kernel_series(const std::string& kind) {
  constexpr std::array<std::string_view, 9> kOrder{
      "gemm", "grouped", "bmm", "attention", "memory", "loss", "optimizer", "pcie", "launch"};
  return in_order(kOrder, kind.empty() ? "unnamed" : kind);
}

// What sets a step apart from the plainest one; of several, the one that changes it most.
SeriesKey step_series(const measured::SingleDeviceSubject& subject) {
  constexpr std::array<std::string_view, 6> kOrder{"eager",    "compiled", "recomputed",
                                                   "autocast", "fp32",     "eager attention"};
  const describe::Layout& layout = subject.job->layout;
  if (subject.autocast) {
    return in_order(kOrder, "autocast");
  }
  if (layout.precision == describe::Precision::kFp32) {
    return in_order(kOrder, "fp32");
  }
  if (layout.attention == describe::AttentionKernel::kEager) {
    return in_order(kOrder, "eager attention");
  }
  if (layout.recompute.granularity != describe::Recompute::kNone) {
    return in_order(kOrder, "recomputed");
  }
  return in_order(kOrder, layout.launch == describe::Launch::kEager ? "eager" : "compiled");
}

SeriesKey phase_series(std::string_view quantity) {
  constexpr std::array<std::string_view, 4> kOrder{"forward", "backward", "update", "step"};
  if (quantity == "fwd_ms") {
    return in_order(kOrder, "forward");
  }
  if (quantity == "bwd_ms") {
    return in_order(kOrder, "backward");
  }
  return in_order(kOrder, quantity == "opt_ms" ? "update" : "step");
}

std::string spaced(std::string_view word) {
  std::string text(word);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

SeriesKey op_series(measured::CollectiveOp op) {
  return {static_cast<std::size_t>(op),
          spaced(describe::word_of<measured::CollectiveOp>(measured::kCollectiveOpWords, op))};
}

SeriesKey class_series(const measured::CollectiveSubject& call) {
  if (!call.healthy) {
    return {measured::kCommClassWords.size(), "unhealthy"};
  }
  const measured::CommClass kind = measured::comm_class(call);
  return {static_cast<std::size_t>(kind),
          std::string(describe::word_of<measured::CommClass>(measured::kCommClassWords, kind))};
}

bool is_phase(const Row& row) {
  return row.table == TableKind::kRankCompute ||
         (row.table == TableKind::kTrainSteps && row.quantity != "step_ms_median");
}

SeriesKey row_series(const Row& row) {
  if (is_phase(row)) {
    return phase_series(row.quantity);
  }
  if (const auto* kernel = std::get_if<measured::KernelSubject>(&row.subject)) {
    return kernel_series(kernel->kind);
  }
  if (const auto* kernel = std::get_if<measured::KernelEfficiencySubject>(&row.subject)) {
    return {0, kernel->device.value_or(row.source)};
  }
  if (const auto* call = std::get_if<measured::CollectiveSubject>(&row.subject)) {
    return class_series(*call);
  }
  if (const auto* call = std::get_if<measured::StepCollectiveSubject>(&row.subject)) {
    return op_series(call->op);
  }
  if (const auto* call = std::get_if<measured::EpAllToAllSubject>(&row.subject)) {
    return {static_cast<std::size_t>(call->op),
            std::string(
                describe::word_of<measured::EpOperation>(measured::kEpOperationWords, call->op))};
  }
  if (const auto* bench = std::get_if<measured::ClusterBenchSubject>(&row.subject)) {
    return {0, spaced(bench->kind)};
  }
  if (const auto* stages = std::get_if<measured::StageTimesSubject>(&row.subject)) {
    return {0, stages->method};
  }
  const auto* single = std::get_if<measured::SingleDeviceSubject>(&row.subject);
  if (single != nullptr && single->job != nullptr && row.table == TableKind::kTrainSteps) {
    return step_series(*single);
  }
  return {0, row.source};
}

std::string_view family_words(TableKind kind) {
  const auto* const found = std::find_if(kFamilies.begin(), kFamilies.end(),
                                         [kind](const Family& one) { return one.kind == kind; });
  return found != kFamilies.end() ? found->name
                                  : describe::word_of<TableKind>(measured::kTableKindWords, kind);
}

// The row's plot without its points.
ValidationPlot plot_of(const Row& row) {
  const auto* const found =
      std::find_if(kQuantities.begin(), kQuantities.end(),
                   [&row](const PlottedQuantity& one) { return one.name == row.quantity; });
  const bool known = found != kQuantities.end();
  const std::string suffix = known ? std::string(found->suffix) : file_word(row.quantity);
  ValidationPlot plot;
  const std::string_view family = family_words(row.table);
  plot.name = file_word(family);
  plot.title = std::string(family);
  if (plot.title.front() >= 'a' && plot.title.front() <= 'z') {
    plot.title.front() = static_cast<char>(plot.title.front() - 'a' + 'A');
  }
  plot.quantity = known ? std::string(found->words) : row.quantity;
  plot.unit = known ? std::string(found->unit) : std::string();
  if (row.table == TableKind::kRankCompute) {
    plot.quantity = "time";  // of a step and its phases
  } else if (row.table == TableKind::kTrainSteps && is_phase(row)) {
    plot.name = "train-phases";
    plot.title = "Phases of train steps";
  } else if (!suffix.empty()) {
    plot.name += "-" + suffix;
  }
  return plot;
}

}  // namespace

std::vector<ValidationPlot> validation_plots(const std::vector<Row>& rows,
                                             const measured::ValidationReport& report) {
  struct Group {
    ValidationPlot plot;
    std::map<SeriesKey, PlotSeries> series;
  };
  std::map<std::string, Group> groups;
  for (std::size_t i = 0; i < rows.size() && i < report.rows.size(); ++i) {
    const Row& row = rows[i];
    const measured::ValidatedRow& scored = report.rows[i];
    if (!scored.predicted_value || !scored.error || row.trust == measured::Trust::kC ||
        row.quantity == "fits") {
      continue;
    }
    ValidationPlot plot = plot_of(row);
    Group& group = groups[plot.name];
    if (group.plot.name.empty()) {
      group.plot = std::move(plot);
    }
    const SeriesKey key = row_series(row);
    PlotSeries& series = group.series[key];
    series.name = key.name;
    series.points.push_back({scored.measured_value, *scored.predicted_value, *scored.error});
  }
  std::vector<ValidationPlot> plots;
  for (auto& [name, group] : groups) {
    for (auto& [key, series] : group.series) {
      group.plot.series.push_back(std::move(series));
    }
    plots.push_back(std::move(group.plot));
  }
  return plots;
}

}  // namespace sextant::explain
