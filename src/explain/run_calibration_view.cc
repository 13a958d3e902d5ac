#include "explain/run_calibration_view.h"

#include <fmt/format.h>

#include "base/text.h"
#include "explain/json.h"
#include "explain/percent.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using calibrate::RunClassInterval;
using calibrate::RunKeyChange;
using calibrate::RunSourceChange;
using calibrate::SpreadCoverage;

Table source_table(const RunCalibrationAnswer& answer) {
  Table table{{{"source"}, {"rows", true}, {"mean error before", true}, {"after", true}}, {}};
  for (const RunSourceChange& one : answer.made.sources) {
    table.rows.push_back(
        {one.source, with_thousands(one.rows), percent(one.before), percent(one.after)});
  }
  table.rows.push_back({"mean over sources", with_thousands(answer.made.rows),
                        percent(answer.made.before), percent(answer.made.after)});
  return table;
}

Table run_key_table(const RunCalibrationAnswer& answer) {
  Table table{{{"key"}, {"before", true}, {"after", true}, {"rows", true}}, {}};
  for (const RunKeyChange& key : answer.made.keys) {
    table.rows.push_back({key.key, key.before, key.fitted ? key.after : "stays: too few rows",
                          with_thousands(key.rows)});
  }
  return table;
}

Table class_table(const RunCalibrationAnswer& answer) {
  Table table{{{"class of job"}, {"rows", true}, {"low", true}, {"high", true}}, {}};
  for (const RunClassInterval& one : answer.made.classes) {
    table.rows.push_back({one.name, with_thousands(one.rows), fmt::format("{:.2f}", one.low),
                          fmt::format("{:.2f}", one.high)});
  }
  return table;
}

Table fitted_coverage_table(const RunCalibrationAnswer& answer) {
  Table table{{{"source"}, {"rows", true}, {"inside", true}, {"inside, left out", true}}, {}};
  for (const SpreadCoverage& one : answer.made.coverage) {
    table.rows.push_back(
        {one.source, with_thousands(one.rows), percent(one.seen), percent(one.unseen)});
  }
  return table;
}

Table difference_table(const RunCalibrationAnswer& answer) {
  Table table{{{"what differs"}, {"pairs", true}, {"between", true}}, {}};
  for (const calibrate::RunDifferenceClass& one : answer.made.differences) {
    table.rows.push_back(
        {one.name, with_thousands(one.pairs), fmt::format("/ {0:.2f} … × {0:.2f}", one.factor)});
  }
  return table;
}

std::string run_calibration_json_text(const RunCalibrationAnswer& answer) {
  Json json = document("calibrate-runs", answer.provenance);
  json["rows"] = answer.made.rows;
  json["mape_before"] = answer.made.before;
  json["mape_after"] = answer.made.after;
  json["sources"] = Json::array();
  for (const RunSourceChange& one : answer.made.sources) {
    Json entry;
    entry["name"] = one.source;
    entry["rows"] = one.rows;
    entry["mape_before"] = one.before;
    entry["mape_after"] = one.after;
    json["sources"].push_back(entry);
  }
  json["keys"] = Json::array();
  for (const RunKeyChange& key : answer.made.keys) {
    Json entry;
    entry["key"] = key.key;
    entry["before"] = key.before;
    entry["after"] = key.after;
    entry["rows"] = key.rows;
    entry["fitted"] = key.fitted;
    json["keys"].push_back(entry);
  }
  json["intervals"] = Json::array();
  for (const RunClassInterval& one : answer.made.classes) {
    Json entry;
    entry["class"] = one.name;
    entry["low"] = one.low;
    entry["high"] = one.high;
    entry["rows"] = one.rows;
    json["intervals"].push_back(entry);
  }
  json["coverage"] = Json::array();
  for (const SpreadCoverage& one : answer.made.coverage) {
    Json entry;
    entry["source"] = one.source;
    entry["rows"] = one.rows;
    entry["seen"] = one.seen;
    entry["left_out"] = one.unseen;
    json["coverage"].push_back(entry);
  }
  json["differences"] = Json::array();
  for (const calibrate::RunDifferenceClass& one : answer.made.differences) {
    json["differences"].push_back(
        Json{{"class", one.name}, {"factor", one.factor}, {"pairs", one.pairs}});
  }
  return dumped(json);
}

}  // namespace

std::string to_text(const RunCalibrationAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return run_calibration_json_text(answer);
  }
  std::string text = to_text(source_table(answer), style);
  if (style.format == Format::kCsv) {
    return text;
  }
  text += "\n" + to_text(run_key_table(answer), style);
  text += "\nEight of ten measured steps take between low and high times the prediction.\n\n" +
          to_text(class_table(answer), style);
  text += "\n" + to_text(fitted_coverage_table(answer), style);
  if (!answer.made.differences.empty()) {
    text += "\nEight of ten measured ratios of two such jobs lie between, small changes.\n\n" +
            to_text(difference_table(answer), style);
  }
  return text;
}

}  // namespace sextant::explain
