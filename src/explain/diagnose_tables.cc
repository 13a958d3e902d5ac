#include "explain/diagnose_tables.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/diagnose_words.h"
#include "explain/percent.h"

namespace sextant::explain {
namespace {

using metrics::CollectiveRow;
using metrics::KernelRow;
using metrics::OperatorRow;
using sextant::to_text;

std::string exact(double value) {
  return fmt::format("{:.9g}", value);
}

std::string time_cell(Seconds time, bool people) {
  return people ? to_text(time) : exact(time.base());
}

std::string share_cell(const std::optional<double>& share, bool people) {
  return people ? percent(share) : share ? exact(*share) : "";
}

template <typename Rate>
std::string rate_cell(const std::optional<Rate>& rate, bool people) {
  if (!rate) {
    return people ? "-" : "";
  }
  return people ? to_text(*rate) : exact(rate->base());
}

// A bar of the share, to a half of a letter.
std::string share_bar(double share) {
  constexpr double kLetters = 30.0;
  const auto halves = static_cast<int>(std::lround(share * kLetters * 2.0));
  std::string text;
  for (int i = 0; i < halves / 2; ++i) {
    text += "█";
  }
  return text + (halves % 2 == 1 ? "▌" : "");
}

std::string name_cell(std::string_view name, const DiagnoseTableStyle& style) {
  return style.people ? short_kernel_name(name, style.width - 48)
                      : printable(name, name.size() * 4);
}

std::string span_kind_word(timeline::SpanKind kind) {
  return std::string(timeline::name_of(kind));
}

// Places of the first so many rows; the row of all that a summary does not name comes last.
template <typename Row>
std::vector<std::size_t> named_rows(const std::vector<Row>& rows, std::size_t most) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_partition(
      order, [&](std::size_t i) { return rows[i].name != metrics::kOthersName; });
  order.resize(std::min(most, order.size()));
  return order;
}

Column number_column(std::string_view people, std::string_view csv, bool is_people) {
  return {std::string(is_people ? people : csv), true};
}

std::string count_per_step(std::int64_t count, const DiagnoseAnswer& answer, bool people) {
  const double each = static_cast<double>(count) /
                      static_cast<double>(std::max<std::int64_t>(1, answer.totals.steps));
  return people ? fmt::format("{:.4g}", each) : exact(each);
}

std::string size_cell(const std::optional<std::int64_t>& bytes, bool people) {
  if (!bytes) {
    return people ? "-" : "";
  }
  return people ? to_text(static_cast<double>(*bytes) * 1_B) : fmt::format("{}", *bytes);
}

Seconds own_time(const DiagnosedRank& rank) {
  return mean_of(rank.totals.time.total_ns() - rank.totals.time.exposed_communication_ns,
                 rank.totals);
}

std::vector<std::string> rank_row(const DiagnosedRank& rank, bool people) {
  const metrics::Breakdown& time = rank.totals.time;
  const std::int64_t whole = time.total_ns();
  const metrics::IdleCauses& idle = rank.totals.idle;
  const std::int64_t host = idle.host_late_ns + idle.host_blocked_ns + idle.launching_ns;
  const auto& memory = rank.totals.memory;
  return {fmt::format("{}", rank.summary.rank.value),
          time_cell(mean_step(rank.totals), people),
          time_cell(own_time(rank), people),
          share_cell(ns_share(time.compute_ns, whole), people),
          share_cell(ns_share(time.exposed_communication_ns, whole), people),
          share_cell(ns_share(time.idle_ns, whole), people),
          share_cell(ns_share(host, whole), people),
          size_cell(memory ? std::optional(memory->allocated_bytes) : std::nullopt, people)};
}

}  // namespace

Table breakdown_table(const DiagnoseAnswer& answer, bool people, bool bars) {
  Table table{{{people ? "where the step goes" : "part"},
               {people ? "time" : "time_s", true},
               {"share", true}},
              {}};
  if (bars) {
    table.columns.push_back({""});
  }
  for (const TimePart& part : step_parts(answer.totals.time)) {
    const auto share = ns_share(part.time_ns, answer.totals.time.total_ns());
    std::vector<std::string> row{std::string(people ? part.word : part.key),
                                 time_cell(mean_of(part.time_ns, answer.totals), people),
                                 share_cell(share, people)};
    if (bars) {
      row.push_back(share_bar(share.value_or(0.0)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table top_operators_table(const DiagnoseAnswer& answer, const DiagnoseTableStyle& style) {
  const bool people = style.people;
  Table table{{{"operator"},
               number_column("a step", "time_s", people),
               {people ? "of it" : "share", true},
               number_column("count", "count", people),
               {"kernels", true}},
              {}};
  // Where no operator says what it does, a column of "unknown" tells nothing.
  const bool has_bounds =
      std::ranges::any_of(answer.rooflines, [](const metrics::OperatorRoofline& one) {
        return one.bound != metrics::OperatorBound::kUnknown;
      });
  if (has_bounds) {
    table.columns.push_back({"bound by"});
    table.columns.push_back(number_column("of ideal", "efficiency", people));
  }
  const std::int64_t whole = answer.totals.time.total_ns();
  for (const std::size_t i : named_rows(answer.operators, style.rows)) {
    const OperatorRow& row = answer.operators[i];
    std::vector<std::string> cells{name_cell(row.name, style),
                                   time_cell(mean_of(row.time.total_ns, answer.totals), people),
                                   share_cell(ns_share(row.time.total_ns, whole), people),
                                   count_per_step(row.time.count, answer, people),
                                   count_per_step(row.kernels, answer, people)};
    if (has_bounds) {
      const metrics::OperatorRoofline& roofline = answer.rooflines[i];
      cells.emplace_back(metrics::name_of(roofline.bound));
      cells.push_back(share_cell(roofline.efficiency, people));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table top_kernels_table(const DiagnoseAnswer& answer, const DiagnoseTableStyle& style) {
  const bool people = style.people;
  Table table{{{"kernel"},
               {"kind"},
               number_column("a step", "time_s", people),
               {people ? "of it" : "share", true},
               number_column("count", "count", people),
               number_column("mean", "mean_s", people)},
              {}};
  const std::int64_t whole = answer.totals.time.total_ns();
  for (const std::size_t i : named_rows(answer.kernels, style.rows)) {
    const KernelRow& row = answer.kernels[i];
    table.rows.push_back({name_cell(row.name, style), span_kind_word(row.kind),
                          time_cell(mean_of(row.time.total_ns, answer.totals), people),
                          share_cell(ns_share(row.time.total_ns, whole), people),
                          count_per_step(row.time.count, answer, people),
                          time_cell(row.time.mean_ns() * 1_ns, people)});
  }
  return table;
}

Table collectives_table(const DiagnoseAnswer& answer, const DiagnoseTableStyle& style) {
  const bool people = style.people;
  Table table{{{"collective"},
               {"ranks", true},
               number_column("size up to", "size_bytes", people),
               number_column("count", "count", people),
               number_column("a step", "time_s", people),
               number_column("fastest", "min_s", people),
               number_column("algorithm", "algorithm_bandwidth_Bps", people),
               number_column("bus", "bus_bandwidth_Bps", people)},
              {}};
  for (std::size_t i = 0; i < std::min(style.rows, answer.collectives.size()); ++i) {
    const CollectiveRow& row = answer.collectives[i];
    table.rows.push_back(
        {printable(collective_word(row), 24), row.ranks ? fmt::format("{}", *row.ranks) : "-",
         size_cell(row.size_class, people), count_per_step(row.time.count, answer, people),
         time_cell(mean_of(row.time.total_ns, answer.totals), people),
         time_cell(seconds_of(row.time.min_ns), people),
         rate_cell(row.algorithm_bandwidth(), people), rate_cell(row.bus_bandwidth(), people)});
  }
  return table;
}

Table worst_ranks_table(const DiagnoseAnswer& answer, const DiagnoseTableStyle& style) {
  const bool people = style.people;
  Table table{{{"rank", true},
               number_column("step", "step_time_s", people),
               number_column("own", "own_time_s", people),
               number_column("compute", "compute_share", people),
               number_column("comm.", "exposed_comm_share", people),
               number_column("idle", "idle_share", people),
               number_column("by host", "idle_by_host_share", people),
               number_column("memory", "memory_allocated_bytes", people)},
              {}};
  std::vector<const DiagnosedRank*> order;
  for (const DiagnosedRank& rank : answer.ranks) {
    order.push_back(&rank);
  }
  std::stable_sort(order.begin(), order.end(), [](const DiagnosedRank* a, const DiagnosedRank* b) {
    return own_time(*a) > own_time(*b);
  });
  const std::size_t left_out = order.size() > style.rows ? order.size() - style.rows : 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool is_best = i + 1 == order.size();
    if (left_out > 0 && i + 1 >= style.rows && !is_best) {
      continue;
    }
    if (left_out > 0 && is_best && people) {
      std::vector<std::string> gap(table.columns.size());
      gap[0] = "…";
      table.rows.push_back(std::move(gap));
    }
    table.rows.push_back(rank_row(*order[i], people));
  }
  return table;
}

Table ranges_table(const DiagnoseAnswer& answer, const DiagnoseTableStyle& style) {
  const bool people = style.people;
  Table table{{{"range of the host"},
               number_column("count", "count", people),
               number_column("work", "work_s", people),
               number_column("own", "own_work_s", people),
               number_column("idle before", "idle_before_s", people),
               number_column("own", "own_idle_before_s", people)},
              {}};
  const auto mean = [&](std::int64_t time_ns) {
    return time_cell(mean_of(time_ns, answer.totals), people);
  };
  for (std::size_t i = 0; i < std::min(style.rows, answer.ranges.size()); ++i) {
    const metrics::RangeRow& row = answer.ranges[i];
    table.rows.push_back({row.name.empty() ? "(in no range)" : name_cell(row.name, style),
                          count_per_step(row.count, answer, people), mean(row.work_ns),
                          mean(row.own_work_ns), mean(row.idle_ns), mean(row.own_idle_ns)});
  }
  return table;
}

Table steps_table(const DiagnoseAnswer& answer, const DiagnoseTableStyle& style) {
  const bool people = style.people;
  Table table{{{"rank", true},
               {"step", true},
               number_column("time", "step_time_s", people),
               number_column("compute", "compute_s", people),
               number_column("exposed comm.", "exposed_comm_s", people),
               number_column("exposed copies", "exposed_copy_s", people),
               number_column("idle", "idle_s", people)},
              {}};
  for (const DiagnosedRank& rank : answer.ranks) {
    for (const metrics::StepMeasures& step : rank.summary.steps) {
      if (people && table.rows.size() >= style.rows) {
        return table;
      }
      std::vector<std::string> row{fmt::format("{}", rank.summary.rank.value),
                                   fmt::format("{}", step.number),
                                   time_cell(seconds_of(step.time.total_ns()), people)};
      for (const TimePart& part : step_parts(step.time)) {
        row.push_back(time_cell(seconds_of(part.time_ns), people));
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace sextant::explain
