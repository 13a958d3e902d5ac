#include "explain/comm_calibration_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "describe/words.h"
#include "explain/json.h"
#include "explain/percent.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using calibrate::CommClassChange;
using calibrate::CommKeyChange;
using calibrate::CommSizeChange;

std::string size_word(measured::SizeBucket size) {
  return std::string(describe::word_of<measured::SizeBucket>(measured::kSizeBucketWords, size));
}

Table size_change_table(const CommCalibrationAnswer& answer) {
  Table table{{{"file"}, {"size"}, {"timings", true}, {"mean error before", true}, {"after", true}},
              {}};
  for (const CommClassChange& of : answer.made.classes) {
    for (const CommSizeChange& size : of.sizes) {
      table.rows.push_back({of.file, size_word(size.size), with_thousands(size.timings),
                            percent(size.before), percent(size.after)});
    }
    table.rows.push_back(
        {of.file, "all sizes", with_thousands(of.timings), percent(of.before), percent(of.after)});
  }
  return table;
}

Table comm_key_table(const CommClassChange& of) {
  Table table{{{"key"}, {"before", true}, {"after", true}, {"timings", true}}, {}};
  for (const CommKeyChange& key : of.keys) {
    if (key.timings > 0) {
      table.rows.push_back(
          {key.key, key.before, key.fitted ? key.after : "stays", with_thousands(key.timings)});
    }
  }
  return table;
}

std::string class_text(const CommClassChange& of, const Style& style) {
  std::string text = fmt::format("\n{} ({})\n\n", bold(of.file, style), of.name);
  text += to_text(comm_key_table(of), style);
  const auto silent = std::ranges::count(of.keys, 0, &CommKeyChange::timings);
  if (silent > 0) {
    text += fmt::format("{} of {} constants stay: fewer than three timings are of them\n", silent,
                        of.keys.size());
  }
  return text;
}

Table unused_timings_table(const CommCalibrationAnswer& answer) {
  Table table{{{"not used because"}, {"timings", true}}, {}};
  for (const auto& [reason, timings] : answer.made.unused) {
    table.rows.push_back({reason, with_thousands(timings)});
  }
  return table;
}

Json class_json(const CommClassChange& of) {
  Json json;
  json["file"] = of.file;
  json["name"] = of.name;
  json["timings"] = of.timings;
  json["systems"] = of.systems;
  json["mape_before"] = of.before;
  json["mape_after"] = of.after;
  json["sizes"] = Json::array();
  for (const CommSizeChange& size : of.sizes) {
    Json entry;
    entry["name"] = size_word(size.size);
    entry["timings"] = size.timings;
    entry["mape_before"] = size.before;
    entry["mape_after"] = size.after;
    json["sizes"].push_back(entry);
  }
  json["keys"] = Json::array();
  for (const CommKeyChange& key : of.keys) {
    Json entry;
    entry["key"] = key.key;
    entry["before"] = key.before;
    entry["after"] = key.after;
    entry["timings"] = key.timings;
    entry["fitted"] = key.fitted;
    json["keys"].push_back(entry);
  }
  return json;
}

std::string comm_calibration_json_text(const CommCalibrationAnswer& answer) {
  Json json = document("calibrate-comm", answer.provenance);
  json["cluster"] = answer.made.cluster.empty() ? Json(nullptr) : Json(answer.made.cluster);
  json["classes"] = Json::array();
  for (const CommClassChange& of : answer.made.classes) {
    json["classes"].push_back(class_json(of));
  }
  json["unused"] = Json::array();
  for (const auto& [reason, timings] : answer.made.unused) {
    json["unused"].push_back({{"reason", reason}, {"timings", timings}});
  }
  json["assumed"] = to_json(answer.made.assumed);
  json["warnings"] = answer.made.warnings;
  return dumped(json);
}

}  // namespace

std::string to_text(const CommCalibrationAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return comm_calibration_json_text(answer);
  }
  std::string text = to_text(size_change_table(answer), style);
  if (style.format == Format::kCsv) {
    return text;
  }
  for (const CommClassChange& of : answer.made.classes) {
    text += class_text(of, style);
  }
  if (!answer.made.unused.empty()) {
    text += "\n" + to_text(unused_timings_table(answer), style);
  }
  for (const describe::Assumption& assumed : answer.made.assumed) {
    text += fmt::format("assumed: {}{}{}\n", assumed.source, assumed.source.empty() ? "" : ": ",
                        describe::to_text(assumed));
  }
  return text;
}

}  // namespace sextant::explain
