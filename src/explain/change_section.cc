#include "explain/change_section.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/percent.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using measured::ChangeRow;
using measured::ChangeScore;
using measured::ChangeScores;

// What verdicts and sizes of single changes must reach.
constexpr std::int64_t kExpressedLimit = 120;
constexpr double kAgreedLimit = 0.9;
constexpr double kToldLimit = 0.6;
constexpr double kHalfWidthLimit = 0.12;

std::optional<double> counted_share(std::int64_t part, std::int64_t of) {
  return of == 0 ? std::nullopt
                 : std::optional(static_cast<double>(part) / static_cast<double>(of));
}

std::string share_text(std::int64_t part, std::int64_t of) {
  const std::optional<double> share = counted_share(part, of);
  return share ? fmt::format("{} of {} ({:.0f} %)", with_thousands(part), with_thousands(of),
                             100.0 * *share)
               : "-";
}

std::string points_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} points", 100.0 * *share) : "-";
}

std::string held(bool holds) {
  return holds ? "yes" : "no";
}

Table limits_table(const ChangeScore& all) {
  Table table{{{"of all rows"}, {"is", true}, {"must hold", true}, {"holds"}}, {}};
  const auto at_least = [](std::optional<double> value, double limit) {
    return held(value.value_or(0.0) >= limit);
  };
  table.rows = {
      {"rows expressed as two layouts", share_text(all.expressed, all.rows),
       std::to_string(kExpressedLimit), held(all.expressed >= kExpressedLimit)},
      {"direction right, effects of 2 % and more", share_text(all.direction, all.telling), "-",
       "-"},
      {"verdicts on effects of 2 % and more that agree", share_text(all.agreed, all.told),
       percent(kAgreedLimit), at_least(counted_share(all.agreed, all.told), kAgreedLimit)},
      {"effects of 5 % and more that get a verdict", share_text(all.large_told, all.large),
       percent(kToldLimit), at_least(counted_share(all.large_told, all.large), kToldLimit)},
      {"measured effects inside the interval", share_text(all.inside, all.expressed), "-", "-"},
      {"median difference of sizes", points_text(all.difference), "-", "-"},
      {"median half-width of the interval", points_text(all.half_width),
       points_text(kHalfWidthLimit), held(all.half_width.value_or(1.0) <= kHalfWidthLimit)}};
  return table;
}

Table change_score_table(const char* what, const std::vector<ChangeScore>& scores) {
  Table table{{{what},
               {"rows", true},
               {"expressed", true},
               {"direction right", true},
               {"verdicts that agree", true},
               {"large effects with one", true},
               {"inside", true},
               {"median difference", true},
               {"half-width", true}},
              {}};
  for (const ChangeScore& one : scores) {
    table.rows.push_back({one.name, with_thousands(one.rows), with_thousands(one.expressed),
                          share_text(one.direction, one.telling), share_text(one.agreed, one.told),
                          share_text(one.large_told, one.large),
                          share_text(one.inside, one.expressed), points_text(one.difference),
                          points_text(one.half_width)});
  }
  return table;
}

std::string_view verdict_word(int told) {
  return told > 0 ? "faster" : told < 0 ? "slower" : "cannot be told";
}

Table rows_table(const ChangeScores& scores) {
  Table table{{{"row"},
               {"source"},
               {"change"},
               {"measured", true},
               {"predicted", true},
               {"80 % interval", true},
               {"verdict"},
               {"inside"}},
              {}};
  for (const ChangeRow& row : scores.rows) {
    if (!row.interval) {
      continue;
    }
    const auto& [low, high] = *row.interval;
    table.rows.push_back({row.id, row.source, row.kind, signed_percent(row.effect),
                          signed_percent(row.predicted),
                          fmt::format("{} … {}", signed_percent(low), signed_percent(high)),
                          std::string(verdict_word(row.told())) +
                              (row.trust == measured::Trust::kC ? ", not scored" : ""),
                          held(low <= row.effect && row.effect <= high)});
  }
  return table;
}

Table refusals_table(const ChangeScores& scores) {
  std::map<std::string, std::vector<std::string>> reasons;
  for (const ChangeRow& row : scores.rows) {
    if (!row.predicted) {
      reasons[row.reason].push_back(row.id);
    }
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> counted(reasons.begin(),
                                                                        reasons.end());
  std::ranges::sort(counted, [](const auto& a, const auto& b) {
    return std::tuple(b.second.size(), a.first) < std::tuple(a.second.size(), b.first);
  });
  Table table{{{"refused because"}, {"rows", true}, {"which"}}, {}};
  for (const auto& [reason, ids] : counted) {
    table.rows.push_back({reason, std::to_string(ids.size()), join(ids, " ")});
  }
  return table;
}

Json score_json(const ChangeScore& one) {
  Json json;
  json["name"] = one.name;
  json["rows"] = one.rows;
  json["expressed"] = one.expressed;
  json["telling"] = one.telling;
  json["direction_right"] = one.direction;
  json["told"] = one.told;
  json["agreed"] = one.agreed;
  json["large"] = one.large;
  json["large_told"] = one.large_told;
  json["inside"] = one.inside;
  json["median_difference"] = or_null(one.difference);
  json["median_half_width"] = or_null(one.half_width);
  return json;
}

}  // namespace

std::string change_tables(const ChangeScores& scores, const Style& style) {
  if (scores.empty()) {
    return {};
  }
  std::string text = to_text(limits_table(scores.all), style);
  text += "\n" + to_text(change_score_table("kind of change", scores.kinds), style);
  text += "\n" + to_text(change_score_table("source", scores.sources), style);
  text += "\n" + to_text(rows_table(scores), style);
  return text;
}

std::string changes_page(const ChangeScores& scores, const measured::ValidationReport& report) {
  const Style markdown{Format::kMarkdown, false};
  const auto memory = static_cast<std::int64_t>(report.rows.size() - scores.rows.size());
  std::string text = fmt::format(
      "# Published single changes, foretold\n\nGenerated by `sextant validate wins.csv --ledger "
      "docs/single_changes.md`; a test fails when it is not current. {} published changes of "
      "speed; {} of memory are not judged here.\n\nEach row is a job before and after one change. "
      "Both are read as rows of published runs are and predicted by the same model; what is "
      "compared is the change of speed of a device. The interval is that of a difference "
      "(`data/step_difference.toml`, docs/models/step.md): errors that both predictions share "
      "cancel. Rows of the paper or repository that is judged do not count in it, and no constant "
      "of the model is fitted to these rows. A verdict: the interval does not hold 0. Rows of "
      "trust C are shown, not scored.\n\n",
      with_thousands(static_cast<std::int64_t>(scores.rows.size())), with_thousands(memory));
  text += to_text(limits_table(scores.all), markdown);
  text +=
      "\n## By kind of change\n\n" + to_text(change_score_table("kind", scores.kinds), markdown);
  text += "\n## By source\n\n" + to_text(change_score_table("source", scores.sources), markdown);
  text += "\n## Rows\n\n" + to_text(rows_table(scores), markdown);
  text += "\n## Why rows are refused\n\n" + to_text(refusals_table(scores), markdown);
  return text;
}

Json change_scores_json(const ChangeScores& scores) {
  Json json;
  json["all"] = score_json(scores.all);
  json["kinds"] = Json::array();
  for (const ChangeScore& one : scores.kinds) {
    json["kinds"].push_back(score_json(one));
  }
  json["sources"] = Json::array();
  for (const ChangeScore& one : scores.sources) {
    json["sources"].push_back(score_json(one));
  }
  json["rows"] = Json::array();
  for (const ChangeRow& row : scores.rows) {
    Json one;
    one["id"] = row.id;
    one["source"] = row.source;
    one["kind"] = row.kind;
    one["measured"] = row.effect;
    one["predicted"] = or_null(row.predicted);
    one["interval"] =
        row.interval ? Json::array({row.interval->first, row.interval->second}) : Json(nullptr);
    one["verdict"] = row.interval ? Json(verdict_word(row.told())) : Json(nullptr);
    one["reason"] = row.predicted ? Json(nullptr) : Json(row.reason);
    json["rows"].push_back(std::move(one));
  }
  return json;
}

}  // namespace sextant::explain
