#include "explain/hta_view.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/json.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

// As many as HTA names.
constexpr std::int64_t kHtaKernels = 10;
constexpr std::array<std::string_view, metrics::kHtaIdles> kHtaIdleWords{"host_wait", "kernel_wait",
                                                                         "other"};
constexpr std::array<std::string_view, 4> kHtaTypeWords{"COMPUTATION", "COMMUNICATION", "MEMORY",
                                                        "OTHER"};

double rounded(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(value * scale) / scale;
}

double percent_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0
                    : rounded(100.0 * static_cast<double>(part) / static_cast<double>(whole), 2);
}

Json hta_summary_json(const metrics::HtaSummary& summary) {
  return {{"count", summary.count},        {"mean", summary.mean},
          {"std", summary.deviation},      {"min", summary.min},
          {"25%", summary.quarter},        {"50%", summary.median},
          {"75%", summary.three_quarters}, {"max", summary.max}};
}

Json temporal_json(const HtaRankTables& rank, const metrics::HtaTemporal& time) {
  return {{"rank", rank.rank.value},
          {"idle_time(us)", time.idle_us},
          {"compute_time(us)", time.compute_us},
          {"non_compute_time(us)", time.non_compute_us},
          {"kernel_time(us)", time.kernel_us},
          {"idle_time_pctg", percent_of(time.idle_us, time.kernel_us)},
          {"compute_time_pctg", percent_of(time.compute_us, time.kernel_us)},
          {"non_compute_time_pctg", percent_of(time.non_compute_us, time.kernel_us)}};
}

Json kernels_json(const HtaAnswer& answer) {
  Json list = Json::array();
  for (const HtaRankTables& rank : answer.ranks) {
    std::int64_t rows = 0;
    for (const metrics::HtaKernelRow& row : rank.kernels) {
      if (++rows > answer.top.value_or(kHtaKernels)) {
        break;
      }
      list.push_back({{"name", printable(row.name, row.name.size() * 4 + 1)},
                      {"kernel_type", kHtaTypeWords[static_cast<std::size_t>(row.type)]},
                      {"rank", rank.rank.value},
                      {"count", row.count},
                      {"sum (us)", row.sum_us},
                      {"max (us)", row.max_us},
                      {"min (us)", row.min_us},
                      {"mean (us)", row.mean_us},
                      {"stddev", row.deviation_us}});
    }
  }
  return list;
}

Json idle_json(const HtaAnswer& answer) {
  Json list = Json::array();
  for (const HtaRankTables& rank : answer.ranks) {
    for (const metrics::HtaStreamIdle& stream : rank.idle) {
      for (std::size_t i = 0; i < metrics::kHtaIdles; ++i) {
        const double share = percent_of(stream.time_us[i], stream.total_us()) / 100.0;
        const auto& gaps = stream.gaps[i];
        list.push_back({{"rank", rank.rank.value},
                        {"stream", stream.stream.value},
                        {"idle_category", kHtaIdleWords[i]},
                        {"idle_time", stream.time_us[i]},
                        {"idle_time_ratio", rounded(share, 2)},
                        {"gaps", gaps ? hta_summary_json(*gaps) : Json(nullptr)}});
      }
    }
  }
  return list;
}

Json queues_json(const HtaAnswer& answer) {
  Json list = Json::array();
  for (const HtaRankTables& rank : answer.ranks) {
    for (const metrics::HtaQueue& queue : rank.queues) {
      Json row{{"rank", rank.rank.value}, {"stream", queue.stream.value}};
      const Json length = hta_summary_json(queue.length);
      for (const auto& [key, value] : length.items()) {
        row["queue_length_" + key] = value;
      }
      row["blocked_on_full_queue_us"] = queue.full_us;
      list.push_back(std::move(row));
    }
  }
  return list;
}

Json launches_json(const HtaAnswer& answer) {
  Json list = Json::array();
  for (const HtaRankTables& rank : answer.ranks) {
    const metrics::HtaLaunches& launches = rank.launches;
    list.push_back({{"rank", rank.rank.value},
                    {"rows", launches.rows},
                    {"cpu_duration_sum", launches.cpu_us},
                    {"gpu_duration_sum", launches.gpu_us},
                    {"launch_delay_sum", launches.delay_total_us},
                    {"launch_delay_describe", hta_summary_json(launches.delay_us)},
                    {"short_kernels(gpu<cpu)", launches.short_kernels},
                    {"runtime_outliers(>50us)", launches.long_calls},
                    {"launch_delay_outliers(>100us)", launches.long_delays}});
  }
  return list;
}

std::string hta_json(const HtaAnswer& answer) {
  Json temporal = Json::array();
  Json overlap = Json::array();
  for (const HtaRankTables& rank : answer.ranks) {
    if (rank.temporal) {
      temporal.push_back(temporal_json(rank, *rank.temporal));
    }
    overlap.push_back({{"rank", rank.rank.value},
                       {"comp_comm_overlap_pctg",
                        rank.overlap ? Json(rounded(*rank.overlap, 2)) : Json(nullptr)}});
  }
  Json json = document("diagnose-hta", answer.provenance);
  json["temporal_breakdown"] = std::move(temporal);
  json["comm_comp_overlap"] = std::move(overlap);
  Json& types = json["kernel_type"] = Json::array();
  for (const metrics::HtaTypeRow& row : answer.types) {
    types.push_back({{"kernel_type", row.types},
                     {"sum", row.sum_us},
                     {"percentage", rounded(row.percentage, 1)}});
  }
  json["kernels"] = kernels_json(answer);
  json["idle_time_breakdown"] = idle_json(answer);
  json["queue_length_summary"] = queues_json(answer);
  json["kernel_launch_stats"] = launches_json(answer);
  return dumped(json);
}

std::string whole(std::int64_t value) {
  return with_thousands(value);
}

Table temporal_table(const HtaAnswer& answer, bool people) {
  Table table{{{"rank", true},
               {"idle_time(us)", true},
               {"compute_time(us)", true},
               {"non_compute_time(us)", true},
               {"kernel_time(us)", true},
               {"idle %", true},
               {"compute %", true},
               {"overlap %", true}},
              {}};
  const auto number = [people](std::int64_t value) {
    return people ? whole(value) : fmt::format("{}", value);
  };
  for (const HtaRankTables& rank : answer.ranks) {
    if (!rank.temporal) {
      continue;
    }
    const metrics::HtaTemporal& time = *rank.temporal;
    table.rows.push_back({fmt::format("{}", rank.rank.value), number(time.idle_us),
                          number(time.compute_us), number(time.non_compute_us),
                          number(time.kernel_us),
                          fmt::format("{:.2f}", percent_of(time.idle_us, time.kernel_us)),
                          fmt::format("{:.2f}", percent_of(time.compute_us, time.kernel_us)),
                          rank.overlap ? fmt::format("{:.2f}", *rank.overlap) : "-"});
  }
  return table;
}

Table types_table(const HtaAnswer& answer) {
  Table table{{{"kernel_type"}, {"sum (us)", true}, {"percentage", true}}, {}};
  for (const metrics::HtaTypeRow& row : answer.types) {
    table.rows.push_back({row.types, whole(row.sum_us), fmt::format("{:.1f}", row.percentage)});
  }
  return table;
}

Table idle_table(const HtaAnswer& answer) {
  Table table{{{"rank", true},
               {"stream", true},
               {"host_wait (us)", true},
               {"kernel_wait (us)", true},
               {"other (us)", true}},
              {}};
  for (const HtaRankTables& rank : answer.ranks) {
    for (const metrics::HtaStreamIdle& stream : rank.idle) {
      table.rows.push_back({fmt::format("{}", rank.rank.value),
                            fmt::format("{}", stream.stream.value), whole(stream.time_us[0]),
                            whole(stream.time_us[1]), whole(stream.time_us[2])});
    }
  }
  return table;
}

Table queue_table(const HtaAnswer& answer) {
  Table table{{{"rank", true},
               {"stream", true},
               {"changes", true},
               {"mean length", true},
               {"median", true},
               {"max", true}},
              {}};
  for (const HtaRankTables& rank : answer.ranks) {
    for (const metrics::HtaQueue& queue : rank.queues) {
      table.rows.push_back(
          {fmt::format("{}", rank.rank.value), fmt::format("{}", queue.stream.value),
           whole(queue.length.count), fmt::format("{:.2f}", queue.length.mean),
           fmt::format("{:.4g}", queue.length.median), fmt::format("{:.4g}", queue.length.max)});
    }
  }
  return table;
}

Table launch_table(const HtaAnswer& answer) {
  Table table{{{"rank", true},
               {"launches", true},
               {"mean delay (us)", true},
               {"short kernels", true},
               {"calls > 50 us", true},
               {"delays > 100 us", true}},
              {}};
  for (const HtaRankTables& rank : answer.ranks) {
    const metrics::HtaLaunches& launches = rank.launches;
    table.rows.push_back({fmt::format("{}", rank.rank.value), whole(launches.rows),
                          fmt::format("{:.2f}", launches.delay_us.mean),
                          whole(launches.short_kernels), whole(launches.long_calls),
                          whole(launches.long_delays)});
  }
  return table;
}

}  // namespace

std::string to_text(const HtaAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return hta_json(answer);
  }
  const bool people = style.format != Format::kCsv;
  std::string text = to_text(temporal_table(answer, people), style);
  if (!people) {
    return text;
  }
  for (const Table& table :
       {types_table(answer), idle_table(answer), queue_table(answer), launch_table(answer)}) {
    if (!table.rows.empty()) {
      text += "\n" + to_text(table, style);
    }
  }
  return text + "\n" +
         dim("HTA 0.6.1's definitions: whole microseconds, without the last of two or more steps",
             style) +
         "\n";
}

}  // namespace sextant::explain
