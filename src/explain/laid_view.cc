#include "explain/laid_view.h"

#include <fmt/format.h>

#include "base/quantity_text.h"

namespace sextant::explain {
namespace {

std::optional<double> ratio_of(Seconds measured, Seconds predicted) {
  return predicted > Seconds() ? std::optional(measured / predicted) : std::nullopt;
}

std::vector<std::string> laid_row(const std::string& what, Seconds predicted, Seconds measured) {
  const auto ratio = ratio_of(measured, predicted);
  return {what, to_text(predicted), to_text(measured),
          ratio ? fmt::format("{:.2f}", *ratio) : std::string("-")};
}

}  // namespace

Table laid_table(const diagnose::LaidOver& laid) {
  Table table{{{"beside the prediction"}, {"predicted", true}, {"measured", true}, {"ratio", true}},
              {}};
  for (const diagnose::LaidRow& row : laid.rows) {
    if (row.predicted > Seconds() || row.measured > Seconds()) {
      table.rows.push_back(laid_row(row.what, row.predicted, row.measured));
    }
  }
  table.rows.push_back(laid_row("step", laid.predicted, laid.measured));
  return table;
}

Json laid_json(const diagnose::LaidOver& laid) {
  Json json;
  json["step_s"] = laid.predicted.base();
  json["low_s"] = laid.low.base();
  json["high_s"] = laid.high.base();
  json["ratio"] = or_null(ratio_of(laid.measured, laid.predicted));
  Json& classes = json["classes"] = Json::array();
  for (const diagnose::LaidRow& row : laid.rows) {
    classes.push_back({{"what", row.what},
                       {"predicted_s", row.predicted.base()},
                       {"measured_s", row.measured.base()},
                       {"ratio", or_null(ratio_of(row.measured, row.predicted))}});
  }
  return json;
}

}  // namespace sextant::explain
