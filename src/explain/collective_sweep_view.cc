#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "explain/collective_json.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

Json measured_series_json(const CollectiveSweepAnswer& answer) {
  if (!answer.measured) {
    return nullptr;
  }
  Json runs = Json::array();
  for (const BandwidthSeries& series : *answer.measured) {
    Json run;
    run["run"] = series.name;
    run["system"] = series.detail;
    Json& points = run["points"] = Json::array();
    for (const BandwidthPoint& point : series.measured) {
      points.push_back(
          {{"bytes", point.bytes.base()}, {"bus_bandwidth_GBps", point.rate / 1_GBps}});
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

std::optional<double> share_of_best(const machine::CollectiveEstimate& estimate) {
  return estimate.bus && estimate.best_rate ? std::optional(*estimate.bus / *estimate.best_rate)
                                            : std::nullopt;
}

std::string collective_sweep_json_text(const CollectiveSweepAnswer& answer) {
  Json json = document("estimate-collective-sweep", answer.provenance);
  json["cluster"] = answer.cluster;
  json["factor"] = answer.factor;
  json["held"] = answer.held;
  Json& points = json["points"] = Json::array();
  for (const CollectivePoint& point : answer.points) {
    Json row;
    row["value"] = point.value;
    row["possible"] = point.estimate.has_value();
    if (point.estimate) {
      row.update(collective_json(*point.estimate));
      row["share_of_best_rate"] = or_null(share_of_best(*point.estimate));
    } else {
      row["reason"] = point.reason;
    }
    points.push_back(std::move(row));
  }
  json["measured"] = measured_series_json(answer);
  json["assumed"] = to_json(answer.assumed);
  return dumped(json);
}

std::string gigabytes(BytesPerSecond rate) {
  return fmt::format("{:.4g}", rate / 1_GBps);
}

// What the runs reached with messages of exactly this size: "340 to 352".
std::string measured_text(const std::vector<BandwidthSeries>& runs, Bytes bytes) {
  std::optional<std::pair<BytesPerSecond, BytesPerSecond>> range;
  for (const BandwidthSeries& run : runs) {
    for (const BandwidthPoint& point : run.measured) {
      if (point.bytes != bytes) {
        continue;
      }
      range =
          range ? std::pair{std::min(range->first, point.rate), std::max(range->second, point.rate)}
                : std::pair{point.rate, point.rate};
    }
  }
  if (!range) {
    return "-";
  }
  const std::string low = gigabytes(range->first);
  const std::string high = gigabytes(range->second);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::vector<std::string> collective_point_row(const CollectivePoint& point, std::size_t columns) {
  std::vector<std::string> row{point.value};
  if (!point.estimate) {
    row.resize(columns - 1, "-");
    row.push_back("not possible: " + point.reason);
    return row;
  }
  const machine::CollectiveEstimate& estimate = *point.estimate;
  const auto range = time_range(estimate);
  const auto share = share_of_best(estimate);
  row.push_back(to_text(estimate.time));
  row.push_back(estimate.bus ? gigabytes(*estimate.bus) : "-");
  row.push_back(share ? fmt::format("{:.1f}", 100.0 * *share) : "-");
  if (estimate.ways.empty()) {
    row.resize(columns - 1, "-");
  } else {
    const machine::CollectiveWay& way = estimate.ways.front();
    row.push_back(
        fmt::format("{}{}{}", way.algorithm, way.protocol.empty() ? "" : "/", way.protocol));
    row.push_back(way.limit);
  }
  row.resize(columns - 1, "-");
  row.push_back(range ? fmt::format("{} to {}", to_text(range->first), to_text(range->second))
                      : std::string("-"));
  return row;
}

Table collective_points_table(const CollectiveSweepAnswer& answer) {
  Table table{{{answer.factor, true},
               {"time", true},
               {"bus GB/s", true},
               {"share of best %", true},
               {"way"},
               {"limit"}},
              {}};
  if (answer.measured) {
    table.columns.push_back({"measured GB/s", true});
  }
  table.columns.push_back({"interval of time"});
  for (const CollectivePoint& point : answer.points) {
    std::vector<std::string> row = collective_point_row(point, table.columns.size());
    if (answer.measured && point.estimate) {
      row[row.size() - 2] = measured_text(*answer.measured, point.estimate->bytes);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::string to_text(const CollectiveSweepAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return collective_sweep_json_text(answer);
  }
  if (style.format == Format::kCsv) {
    return to_text(collective_points_table(answer), style);
  }
  std::string text = fmt::format("{} on {}, {} varied\n\n", bold(answer.held, style),
                                 answer.cluster, answer.factor);
  text += to_text(collective_points_table(answer), style);
  text += dim("share of best: of the bus bandwidth that a message without end gets on the same "
              "group",
              style) +
          "\n";
  if (answer.measured) {
    for (const BandwidthSeries& run : *answer.measured) {
      text += dim(fmt::format("measured: {}, {}", run.name, run.detail), style) + "\n";
    }
  }
  for (const describe::Assumption& assumed : answer.assumed) {
    text += dim("assumed: " + describe::to_text(assumed), style) + "\n";
  }
  return text;
}

}  // namespace sextant::explain
