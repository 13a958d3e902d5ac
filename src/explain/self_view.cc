#include "explain/self_view.h"

#include <fmt/format.h>

#include "explain/json.h"
#include "explain/text_table.h"

namespace sextant::explain {

std::string_view tool_version() {
  return SEXTANT_VERSION;
}

std::string to_text(const ConfigAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    Json json = document("config", answer.provenance);
    json["settings"] = Json::array();
    for (const SettingRow& row : answer.settings) {
      json["settings"].push_back({{"name", row.name},
                                  {"value", row.value},
                                  {"origin", row.origin},
                                  {"allowed", row.allowed},
                                  {"meaning", row.meaning}});
    }
    return dumped(json);
  }
  Table table{{{"setting"}, {"value"}}, {}};
  if (answer.with_origin) {
    table.columns.push_back({"origin"});
  }
  table.columns.push_back({"meaning"});
  for (const SettingRow& row : answer.settings) {
    std::vector<std::string> cells{row.name, row.value.empty() ? "-" : row.value};
    if (answer.with_origin) {
      cells.push_back(row.origin);
    }
    cells.push_back(fmt::format("{} ({})", row.meaning, row.allowed));
    table.rows.push_back(std::move(cells));
  }
  return to_text(table, style);
}

std::string to_text(const DoctorAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    Json json = document("doctor", answer.provenance);
    json["checks"] = Json::array();
    for (const Check& check : answer.checks) {
      json["checks"].push_back(
          {{"what", check.what}, {"ok", check.passed}, {"detail", check.detail}});
    }
    return dumped(json);
  }
  std::string text = fmt::format("sextant {}\n", answer.provenance.tool_version);
  for (const Check& check : answer.checks) {
    text += fmt::format("{}  {:<12} {}\n", check.passed ? good("ok ", style) : bad("BAD", style),
                        check.what, check.detail);
  }
  return text;
}

}  // namespace sextant::explain
