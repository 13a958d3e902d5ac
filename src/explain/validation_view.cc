#include "explain/validation_view.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/text.h"
#include "explain/change_section.h"
#include "explain/comm_json.h"
#include "explain/comm_section.h"
#include "explain/json.h"
#include "explain/percent.h"
#include "explain/text_table.h"
#include "measured/run_scores.h"

namespace sextant::explain {
namespace {

using measured::ValidatedRow;
using measured::ValidationReport;
using measured::ValidationSummary;

Table summary_table(const ValidationReport& report) {
  Table table{{{"source"},
               {"quantity"},
               {"rows", true},
               {"predicted", true},
               {"refused", true},
               {"mean error", true},
               {"median", true},
               {"p90", true},
               {"bias", true},
               {"in interval", true},
               {"groups", true},
               {"Kendall", true},
               {"regret", true}},
              {}};
  for (const ValidationSummary& s : report.summary) {
    table.rows.push_back({s.source, s.quantity, with_thousands(s.rows), with_thousands(s.predicted),
                          with_thousands(s.refused), percent(s.mape), percent(s.median_ape),
                          percent(s.p90_ape), percent(s.bias), percent(s.interval_coverage),
                          std::to_string(s.groups), correlation(s.kendall),
                          percent(s.top1_regret)});
  }
  return table;
}

// Counted texts, most frequent first, then by text.
using Counts = std::vector<std::pair<std::string, std::int64_t>>;

Counts by_frequency(const std::map<std::string, std::int64_t>& counted) {
  Counts counts(counted.begin(), counted.end());
  std::sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  return counts;
}

Counts refusal_reasons(const ValidationReport& report) {
  std::map<std::string, std::int64_t> counted;
  for (const ValidatedRow& row : report.rows) {
    if (!row.predicted) {
      counted[row.reason] += 1;
    }
  }
  return by_frequency(counted);
}

// Assumptions differ in their numbers; what is counted is the sentence with numbers taken out.
Counts assumptions(const ValidationReport& report) {
  std::map<std::string, std::int64_t> counted;
  std::set<std::pair<std::string, std::string>> seen;  // a line's several quantities count once
  for (const ValidatedRow& row : report.rows) {
    for (const describe::Assumption& one : row.assumed) {
      const std::string shape = measured::fact_of(one);
      if (seen.emplace(row.source + "/" + row.id, shape).second) {
        counted[shape] += 1;
      }
    }
  }
  return by_frequency(counted);
}

Table counts_table(const Counts& counts, const char* what, std::size_t most) {
  Table table{{{what}, {"rows", true}}, {}};
  for (std::size_t i = 0; i < counts.size() && i < most; ++i) {
    table.rows.push_back({counts[i].first, with_thousands(counts[i].second)});
  }
  return table;
}

Json validated_row_json(const ValidatedRow& row) {
  Json json;
  json["id"] = row.id;
  json["source"] = row.source;
  json["quantity"] = row.quantity;
  json["status"] = row.predicted ? "predicted" : "refused";
  json["reason"] = row.predicted ? Json(nullptr) : Json(row.reason);
  json["measured"] = row.measured_value;
  json["predicted"] = or_null(row.predicted_value);
  json["error"] = or_null(row.error);
  json["interval"] =
      row.interval ? Json::array({row.interval->first, row.interval->second}) : Json(nullptr);
  json["assumed"] = to_json(row.assumed);
  return json;
}

Json summary_json(const ValidationSummary& s) {
  Json json;
  json["source"] = s.source;
  json["quantity"] = s.quantity;
  json["n"] = s.rows;
  json["predicted"] = s.predicted;
  json["refused"] = s.refused;
  json["scored"] = s.scored;
  json["mape"] = or_null(s.mape);
  json["median_ape"] = or_null(s.median_ape);
  json["p90_ape"] = or_null(s.p90_ape);
  json["bias"] = or_null(s.bias);
  json["interval_coverage"] = or_null(s.interval_coverage);
  json["groups"] = s.groups;
  json["kendall"] = or_null(s.kendall);
  json["top1_regret"] = or_null(s.top1_regret);
  return json;
}

std::string validation_json_text(const ValidationAnswer& answer) {
  Json json = document("validate", answer.provenance);
  json["rows"] = Json::array();
  for (const ValidatedRow& row : answer.report.rows) {
    json["rows"].push_back(validated_row_json(row));
  }
  json["summary"] = Json::array();
  for (const ValidationSummary& s : answer.report.summary) {
    json["summary"].push_back(summary_json(s));
  }
  if (!answer.comm.empty()) {
    json["comm"] = comm_json(answer.comm);
  }
  if (!answer.changes.empty()) {
    json["changes"] = change_scores_json(answer.changes);
  }
  return dumped(json);
}

}  // namespace

std::string to_text(const ValidationAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return validation_json_text(answer);
  }
  std::string text = to_text(summary_table(answer.report), style);
  const Counts reasons = refusal_reasons(answer.report);
  if (style.format != Format::kCsv && !reasons.empty()) {
    constexpr std::size_t kMostReasons = 20;
    text += "\n" + to_text(counts_table(reasons, "refused because", kMostReasons), style);
  }
  const std::string comm = comm_tables(answer.comm, style);
  if (style.format != Format::kCsv && !comm.empty()) {
    text += "\n" + comm;
  }
  if (style.format != Format::kCsv && !answer.changes.empty()) {
    text += "\n" + change_tables(answer.changes, style);
  }
  return text;
}

std::string rows_csv(const ValidationReport& report) {
  std::string text = "id,source,quantity,status,reason,measured,predicted,error,assumed\n";
  const auto optional = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  for (const ValidatedRow& row : report.rows) {
    text += fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_field(row.id), csv_field(row.source),
                        csv_field(row.quantity), row.predicted ? "predicted" : "refused",
                        csv_field(row.reason), row.measured_value, optional(row.predicted_value),
                        optional(row.error), csv_field(describe::to_text(row.assumed)));
  }
  return text;
}

std::string ledger(const ValidationReport& report, const std::string& sections) {
  constexpr std::size_t kAll = 1000;
  const Style markdown{Format::kMarkdown, false};
  std::int64_t predicted = 0;
  for (const ValidationSummary& s : report.summary) {
    predicted += s.predicted;
  }
  std::string text = fmt::format(
      "# How far predictions are from measurements\n\n"
      "Generated by `sextant validate TRUTH data/measured/h200_memory.csv "
      "data/measured/h200_fsdp_memory.csv data/measured/h200_step_times.csv "
      "data/measured/h200_rank_times.csv --ledger docs/validation.md --plots docs/validation`; "
      "`./test` fails when it is not current. {} measured numbers, {} predicted.\n\n"
      "error = (predicted − measured) / measured; mean, median and p90 are of its magnitude, bias "
      "is its "
      "mean. Kendall and regret (what the predicted best costs over the measured best) are means "
      "over "
      "groups of at least four rows that differ only in layout. Rows of trust C are counted, not "
      "scored.\n\n",
      with_thousands(static_cast<std::int64_t>(report.rows.size())), with_thousands(predicted));
  text += "## By source\n\n" + to_text(summary_table(report), markdown);
  text += sections.empty() ? "" : "\n" + sections;
  text += "\n## Why rows are refused\n\n" +
          to_text(counts_table(refusal_reasons(report), "reason", kAll), markdown);
  text +=
      "\n## What was assumed\n\nWhat a row leaves open is filled by a stated rule; numbers are "
      "shown as "
      "#.\n\n" +
      to_text(counts_table(assumptions(report), "assumption", kAll), markdown);
  return text;
}

}  // namespace sextant::explain
