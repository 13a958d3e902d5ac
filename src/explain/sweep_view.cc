#include "explain/sweep_view.h"

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "explain/json.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

std::string milliseconds(Seconds time) {
  const double ms = time / 1_ms;
  const int digits = ms < 10.0 ? 3 : ms < 100.0 ? 2 : ms < 1000.0 ? 1 : 0;
  return fmt::format("{:.{}f}", ms, digits);
}

std::string percent(double share) {
  return fmt::format("{:.1f}", 100.0 * share);
}

Json estimate_json(const Estimate& estimate) {
  const cost::RankDetail& rank = estimate.rank;
  Json json;
  json["utilisation"] = estimate.use.model;
  json["hardware_utilisation"] = estimate.use.hardware;
  json["format"] = describe::word_of<describe::DType>(describe::kDTypeWords, estimate.use.format);
  json["peak_TFLOPps"] = estimate.use.peak / 1_TFLOPps;
  json["pipeline_rank"] = rank.pipeline_rank;
  json["microbatches"] = rank.microbatches;
  json["step_compute_time_s"] = rank.step.base();
  json["forward_device_time_s"] = rank.time.forward.device.base();
  json["forward_host_time_s"] = rank.time.forward.host.base();
  json["backward_device_time_s"] = rank.time.backward.device.base();
  json["backward_host_time_s"] = rank.time.backward.host.base();
  Json& shares = json["shares"] = Json::object();
  for (const NamedPart& named : kTimeParts) {
    shares[std::string(named.name)] = estimate.parts.*named.part / rank.step;
  }
  json["bound"] = bound_word(cost::bound_of(rank));
  return json;
}

std::string json_text(const SweepAnswer& answer) {
  Json json = document("estimate-sweep", answer.provenance);
  json["layout"] = describe::to_text(answer.job.layout);
  json["framework"] =
      describe::word_of<describe::Framework>(describe::kFrameworkWords, answer.job.framework);
  json["factor"] = answer.factor;
  json["held"] = answer.held;
  Json& points = json["points"] = Json::array();
  for (const SweepPoint& point : answer.points) {
    Json row;
    row["value"] = point.value;
    row["legal"] = point.estimate.has_value();
    row["global_batch"] = point.global_batch;
    if (point.estimate) {
      row.update(estimate_json(*point.estimate));
    } else {
      row["reasons"] = point.reasons;
    }
    points.push_back(std::move(row));
  }
  json["left_out"] = left_out_of_estimates();
  json["assumed"] = answer.assumed;
  return dumped(json);
}

std::vector<std::string> point_row(const SweepPoint& point, std::size_t columns) {
  std::vector<std::string> row{point.value};
  if (!point.estimate) {
    row.resize(columns - 1, "-");
    row.push_back("not legal: " + join(point.reasons, "; "));
    return row;
  }
  const Estimate& estimate = *point.estimate;
  row.push_back(percent(estimate.use.model));
  row.push_back(percent(estimate.use.hardware));
  row.push_back(milliseconds(estimate.rank.time.forward.device));
  row.push_back(milliseconds(estimate.rank.time.backward.device));
  for (const NamedPart& named : kTimeParts) {
    row.push_back(percent(estimate.parts.*named.part / estimate.rank.step));
  }
  row.emplace_back(bound_word(cost::bound_of(estimate.rank)));
  return row;
}

Table points_table(const SweepAnswer& answer) {
  Table table{{{answer.factor, true},
               {"MFU %", true},
               {"HFU %", true},
               {"forward ms", true},
               {"backward ms", true}},
              {}};
  for (const NamedPart& named : kTimeParts) {
    table.columns.push_back({std::string(named.name) + " %", true});
  }
  table.columns.push_back({"bound"});
  for (const SweepPoint& point : answer.points) {
    table.rows.push_back(point_row(point, table.columns.size()));
  }
  return table;
}

}  // namespace

std::string to_text(const SweepAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return json_text(answer);
  }
  if (style.format == Format::kCsv) {
    return to_text(points_table(answer), style);
  }
  std::string text =
      fmt::format("{}, {} varied: {}\n\n", bold("compute only", style), answer.factor, answer.held);
  text += to_text(points_table(answer), style);
  text +=
      dim("forward, backward: the device's time for a microbatch; shares are of the step's time",
          style) +
      "\n";
  for (const std::string& assumed : answer.assumed) {
    text += dim("assumed: " + assumed, style) + "\n";
  }
  return text + dim(fmt::format("left out: {}", left_out_of_estimates()), style) + "\n";
}

}  // namespace sextant::explain
