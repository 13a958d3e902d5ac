#include "explain/sweep_view.h"

#include <fmt/format.h>

#include "base/text.h"
#include "describe/layout/layout_text.h"
#include "explain/estimate_json.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

std::string milliseconds(Seconds time) {
  const double ms = time / 1_ms;
  const int digits = ms < 10.0 ? 3 : ms < 100.0 ? 2 : ms < 1000.0 ? 1 : 0;
  return fmt::format("{:.{}f}", ms, digits);
}

std::string percent_number(double share) {
  return fmt::format("{:.1f}", 100.0 * share);
}

// What the whole step is, then the compute of its slowest rank.
Json point_json(const SweepPoint::Answer& answer) {
  const cost::RankDetail& rank = answer.compute.rank;
  Json json = step_json(answer.step);
  json["pipeline_rank"] = rank.pipeline_rank;
  json["step_compute_time_s"] = rank.step.base();
  json["compute_utilisation"] = answer.compute.use.model;
  json["compute_hardware_utilisation"] = answer.compute.use.hardware;
  json["forward_device_time_s"] = rank.time.forward.device.base();
  json["forward_host_time_s"] = rank.time.forward.host.base();
  json["backward_device_time_s"] = rank.time.backward.device.base();
  json["backward_host_time_s"] = rank.time.backward.host.base();
  Json& shares = json["compute_shares"] = Json::object();
  for (const NamedPart& named : kTimeParts) {
    shares[std::string(named.name)] = answer.compute.parts.*named.part / rank.step;
  }
  json["bound"] = bound_word(cost::bound_of(rank));
  return json;
}

std::string sweep_json_text(const SweepAnswer& answer) {
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
    row["legal"] = point.answer.has_value();
    row["global_batch"] = point.global_batch;
    if (point.answer) {
      row.update(point_json(*point.answer));
    } else {
      row["reasons"] = point.reasons;
    }
    points.push_back(std::move(row));
  }
  json["left_out"] = left_out_of_estimates();
  json["assumed"] = to_json(answer.assumed);
  return dumped(json);
}

std::vector<std::string> sweep_point_row(const SweepPoint& point, std::size_t columns) {
  std::vector<std::string> row{point.value};
  if (!point.answer) {
    row.resize(columns - 1, "-");
    row.push_back("not legal: " + join(point.reasons, "; "));
    return row;
  }
  const step::Estimate& step = point.answer->step;
  const cost::RankDetail& rank = point.answer->compute.rank;
  const auto share = [&](Seconds time) { return percent_number(time / step.step.step); };
  row.push_back(milliseconds(step.step.step));
  row.push_back(rate_text(step.tokens_per_device()));
  row.push_back(percent_number(step.use.mfu()));
  row.push_back(percent_number(step.use.hfu()));
  row.push_back(share(step.step.compute));
  row.push_back(share(step.step.host));
  row.push_back(percent_number(step.overhead()));
  row.push_back(share(step.step.bubble));
  row.push_back(milliseconds(rank.time.forward.device));
  row.push_back(milliseconds(rank.time.backward.device));
  row.emplace_back(bound_word(cost::bound_of(rank)));
  row.emplace_back(!step.memory.fits() ? "does not fit" : step.memory.tight() ? "tight" : "fits");
  return row;
}

Table sweep_points_table(const SweepAnswer& answer) {
  Table table{{{answer.factor, true},
               {"step ms", true},
               {"tokens/s/device", true},
               {"MFU %", true},
               {"HFU %", true},
               {"compute %", true},
               {"waiting %", true},
               {"communication %", true},
               {"bubble %", true},
               {"forward ms", true},
               {"backward ms", true},
               {"bound"},
               {"memory"}},
              {}};
  for (const SweepPoint& point : answer.points) {
    table.rows.push_back(sweep_point_row(point, table.columns.size()));
  }
  return table;
}

}  // namespace

std::string to_text(const SweepAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return sweep_json_text(answer);
  }
  if (style.format == Format::kCsv) {
    return to_text(sweep_points_table(answer), style);
  }
  std::string text = fmt::format("{} varied: {}\n\n", bold(answer.factor, style), answer.held);
  text += to_text(sweep_points_table(answer), style);
  text +=
      dim("forward, backward: the device's time for a microbatch, communication apart; shares are "
          "of the step's time",
          style) +
      "\n";
  for (const describe::Assumption& assumed : answer.assumed) {
    text += dim("assumed: " + describe::to_text(assumed), style) + "\n";
  }
  return text + dim(fmt::format("left out: {}", left_out_of_estimates()), style) + "\n";
}

}  // namespace sextant::explain
