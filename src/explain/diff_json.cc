#include "explain/diff_json.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/diagnose_words.h"
#include "explain/finding_json.h"
#include "explain/json.h"
#include "explain/unread_json.h"

namespace sextant::explain {
namespace {

using diagnose::Change;
using diagnose::Makeup;

constexpr std::int64_t kChangesInJson = 100;

std::string any_bytes(std::string_view text) {
  return printable(text, text.size() * 4 + 1);
}

Json seconds_or_null(const std::optional<Seconds>& time) {
  return time ? Json(time->base()) : Json(nullptr);
}

Json change_json(const Change& change) {
  Json json;
  json["name"] = any_bytes(change.name);
  if (!change.detail.empty()) {
    json["detail"] = any_bytes(change.detail);
  }
  json["a_s"] = seconds_or_null(change.a);
  json["b_s"] = seconds_or_null(change.b);
  json["change_s"] = change.change().base();
  if (change.count_a > 0.0 || change.count_b > 0.0) {
    json["a_count"] = change.count_a;
    json["b_count"] = change.count_b;
  }
  return json;
}

Json changes_json(const std::vector<Change>& changes, std::size_t most) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(most, changes.size()); ++i) {
    list.push_back(change_json(changes[i]));
  }
  return list;
}

Json makeup_json(const Makeup& makeup, std::size_t most) {
  Json json;
  json["of"] = makeup.of;
  json["changes"] = changes_json(makeup.changes, std::max(most, makeup.needed));
  json["all_changes"] = makeup.changes.size();
  json["needed"] = makeup.needed;
  json["needed_share"] = or_null(makeup.share_of_first(makeup.needed));
  return json;
}

Json run_json(const DiagnoseAnswer& run) {
  Json ranks = Json::array();
  for (const std::int64_t rank : rank_numbers(run)) {
    ranks.push_back(rank);
  }
  Json files = Json::array();
  for (const DiagnosedFile& file : run.files) {
    files.push_back(any_bytes(file.name));
  }
  Json findings = Json::array();
  if (run.findings) {
    for (const diagnose::Finding& finding : run.findings->diagnosis.findings) {
      findings.push_back(finding_json(run, *run.findings, finding));
    }
  }
  Json json;
  json["files"] = std::move(files);
  json["ranks"] = std::move(ranks);
  json["steps"] = run.totals.steps;
  json["device"] = run.ranks.front().summary.device.empty()
                       ? Json(nullptr)
                       : Json(any_bytes(run.ranks.front().summary.device));
  json["step_time_s"] = mean_step(run.totals).base();
  json["findings"] = std::move(findings);
  json["unread"] = unread_json(run.unread);
  json["assumed"] = to_json(run.assumed);
  return json;
}

std::string_view state_word(const diagnose::FindingChange& one) {
  return one.a && one.b ? "both" : one.b ? "new" : "gone";
}

}  // namespace

std::string diff_json(const DiffAnswer& answer) {
  const diagnose::Difference& difference = answer.difference;
  const auto most = static_cast<std::size_t>(answer.top.value_or(kChangesInJson));
  Json findings = Json::array();
  for (const diagnose::FindingChange& one : difference.findings) {
    findings.push_back({{"rule", one.rule},
                        {"state", state_word(one)},
                        {"a_seconds_per_step", seconds_or_null(one.a)},
                        {"b_seconds_per_step", seconds_or_null(one.b)}});
  }
  Json json = document("diff", answer.provenance);
  json["a"] = run_json(answer.a);
  json["b"] = run_json(answer.b);
  json["change_s"] = (difference.step_b - difference.step_a).base();
  json["breakdown"] = changes_json(difference.parts, most);
  json["idle_by_cause"] = changes_json(difference.idle, most);
  json["made_of"] = makeup_json(difference.makeup, most);
  json["made_of_ranges"] =
      difference.ranges.changes.empty() ? Json(nullptr) : makeup_json(difference.ranges, most);
  json["kinds"] = changes_json(difference.kinds, most);
  json["ops"] = changes_json(difference.operators, most);
  json["kernels"] = changes_json(difference.kernels, most);
  json["host_signals"] = changes_json(difference.signals, most);
  json["collectives"] = changes_json(difference.collectives, most);
  json["findings"] = std::move(findings);
  json["fail_on_met"] = answer.met;
  return dumped(json);
}

std::string diff_csv(const DiffAnswer& answer) {
  const auto cell = [](const std::optional<Seconds>& time) {
    return time ? fmt::format("{:.9g}", time->base()) : std::string();
  };
  Table table{{{"name"}, {"detail"}, {"a_s"}, {"b_s"}, {"change_s"}}, {}};
  for (const Change& one : answer.difference.makeup.changes) {
    table.rows.push_back(
        {any_bytes(one.name), any_bytes(one.detail), cell(one.a), cell(one.b), cell(one.change())});
  }
  return to_text(table, {Format::kCsv, false});
}

}  // namespace sextant::explain
