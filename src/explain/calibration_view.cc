#include "explain/calibration_view.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/json.h"
#include "explain/percent.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using calibrate::DeviceHalves;

// Error on shapes that were not fitted over the error on those that were; nothing where these are
// met exactly.
std::optional<double> ratio(const cost::HalfSplit& half) {
  constexpr double kExact = 5e-4;
  return half.seen >= kExact ? std::optional(half.unseen / half.seen) : std::nullopt;
}

// Errors over all rows: what `sextant validate` prints for the same table.
struct Overall {
  std::int64_t calls = 0;
  double before = 0.0;
  double after = 0.0;
  cost::HalfSplit half{"all", 0.0, 0.0};
};

Overall overall(const CalibrationAnswer& answer) {
  Overall all;
  for (const cost::FamilyError& family : answer.made.before) {
    all.calls += family.calls;
  }
  const double total = static_cast<double>(std::max<std::int64_t>(all.calls, 1));
  for (std::size_t i = 0; i < answer.made.before.size(); ++i) {
    const double share = static_cast<double>(answer.made.before[i].calls) / total;
    all.before += share * answer.made.before[i].error;
    all.after += share * answer.made.after[i].error;
    all.half.seen += share * answer.made.halves[i].seen;
    all.half.unseen += share * answer.made.halves[i].unseen;
  }
  return all;
}

std::vector<std::string> family_row(const cost::FamilyError& before, double after,
                                    const cost::HalfSplit& half) {
  const auto over = ratio(half);
  return {before.family,
          with_thousands(before.calls),
          percent(before.error),
          percent(after),
          percent(half.seen),
          percent(half.unseen),
          over ? fmt::format("{:.2f}", *over) : "-"};
}

Table family_table(const CalibrationAnswer& answer) {
  Table table{{{"family"},
               {"rows", true},
               {"mean error before", true},
               {"after", true},
               {"half: fitted", true},
               {"half: not fitted", true},
               {"ratio", true}},
              {}};
  for (std::size_t i = 0; i < answer.made.before.size(); ++i) {
    table.rows.push_back(
        family_row(answer.made.before[i], answer.made.after[i].error, answer.made.halves[i]));
  }
  const Overall all = overall(answer);
  table.rows.push_back(family_row({"all", all.calls, all.before}, all.after, all.half));
  return table;
}

Table kernel_key_table(const CalibrationAnswer& answer) {
  Table table{{{"key"}, {"before", true}, {"after", true}, {"rows", true}, {"their error", true}},
              {}};
  for (const cost::FittedKey& key : answer.made.keys) {
    table.rows.push_back({key.key, key.before, key.fitted ? key.after : "kept: too few rows",
                          with_thousands(key.calls), key.calls > 0 ? percent(key.error) : "-"});
  }
  return table;
}

Table unused_rows_table(const CalibrationAnswer& answer) {
  Table table{{{"not used because"}, {"rows", true}}, {}};
  for (const auto& [reason, rows] : answer.made.unused) {
    table.rows.push_back({reason, with_thousands(rows)});
  }
  return table;
}

std::string calibration_json_text(const CalibrationAnswer& answer) {
  Json json = document("calibrate", answer.provenance);
  json["device"] = answer.made.device;
  json["start"] = answer.made.start;
  const Overall all = overall(answer);
  json["rows"] = all.calls;
  json["mape_before"] = all.before;
  json["mape_after"] = all.after;
  json["families"] = Json::array();
  for (std::size_t i = 0; i < answer.made.before.size(); ++i) {
    Json family;
    family["family"] = answer.made.before[i].family;
    family["rows"] = answer.made.before[i].calls;
    family["mape_before"] = answer.made.before[i].error;
    family["mape_after"] = answer.made.after[i].error;
    family["half_fitted_mape"] = answer.made.halves[i].seen;
    family["half_not_fitted_mape"] = answer.made.halves[i].unseen;
    family["half_ratio"] = or_null(ratio(answer.made.halves[i]));
    json["families"].push_back(family);
  }
  json["keys"] = Json::array();
  for (const cost::FittedKey& key : answer.made.keys) {
    Json entry;
    entry["key"] = key.key;
    entry["before"] = key.before;
    entry["after"] = key.after;
    entry["rows"] = key.calls;
    entry["mape"] = key.calls > 0 ? Json(key.error) : Json(nullptr);
    entry["fitted"] = key.fitted;
    json["keys"].push_back(entry);
  }
  json["unused"] = Json::array();
  for (const auto& [reason, rows] : answer.made.unused) {
    json["unused"].push_back({{"reason", reason}, {"rows", rows}});
  }
  return dumped(json);
}

// Rows and mean error of one family; "-" where there are none.
std::vector<std::string> family_cells(const std::vector<cost::FamilyError>& errors,
                                      std::string_view family) {
  std::int64_t calls = 0;
  double sum = 0.0;
  for (const cost::FamilyError& error : errors) {
    if (family == "all" || error.family == family) {
      calls += error.calls;
      sum += error.error * static_cast<double>(error.calls);
    }
  }
  return {with_thousands(calls), calls > 0 ? percent(sum / static_cast<double>(calls)) : "-"};
}

Table halves_table(const DeviceHalves& device) {
  Table table{{{"family"},
               {"rows", true},
               {"as it is", true},
               {"from 20 us", true},
               {"as it is", true},
               {"under 20 us", true},
               {"as it is", true},
               {"fitted half", true},
               {"other half", true},
               {"ratio", true}},
              {}};
  const auto add = [&](const std::string& family, const cost::HalfSplit& half) {
    std::vector<std::string> cells{family};
    for (const auto* errors : {&device.errors, &device.long_calls, &device.short_calls}) {
      for (std::string& cell : family_cells(*errors, family)) {
        cells.push_back(std::move(cell));
      }
    }
    const auto over = ratio(half);
    cells.push_back(percent(half.seen));
    cells.push_back(percent(half.unseen));
    cells.push_back(over ? fmt::format("{:.2f}", *over) : "-");
    table.rows.push_back(std::move(cells));
  };
  for (const cost::HalfSplit& half : device.halves) {
    add(half.family, half);
  }
  CalibrationAnswer answer;
  answer.made.before = answer.made.after = device.errors;
  answer.made.halves = device.halves;
  add("all", overall(answer).half);
  return table;
}

}  // namespace

std::string to_text(const CalibrationAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return calibration_json_text(answer);
  }
  std::string text = to_text(family_table(answer), style);
  if (style.format == Format::kCsv) {
    return text;
  }
  text += "\n" + to_text(kernel_key_table(answer), style);
  if (!answer.made.unused.empty()) {
    text += "\n" + to_text(unused_rows_table(answer), style);
  }
  return text;
}

std::string halves_section(const std::vector<DeviceHalves>& devices) {
  if (devices.empty()) {
    return {};
  }
  const Style markdown{Format::kMarkdown, false};
  std::string text =
      "## Kernels by kind, and constants fitted on half of the shapes\n\n"
      "\"As it is\": with the facts of data/kernels. Calls under 20 us are bound by the host that "
      "issues them. Halves as `sextant calibrate` makes them: every other shape of a kind is "
      "fitted, the rest is scored, both ways round.\n";
  for (const DeviceHalves& device : devices) {
    text += fmt::format("\n### {}\n\n", device.device) + to_text(halves_table(device), markdown);
  }
  return text;
}

}  // namespace sextant::explain
