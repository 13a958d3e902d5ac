#include "explain/emit_view.h"

#include <fmt/format.h>

#include "explain/json.h"

namespace sextant::explain {
namespace {

Json left_out_json(const std::vector<emit::Inexpressible>& list) {
  Json json = Json::array();
  for (const emit::Inexpressible& one : list) {
    json.push_back({{"key", one.field}, {"value", one.value}, {"why", one.why}});
  }
  return json;
}

}  // namespace

std::string to_text(const emit::Inexpressible& one) {
  return fmt::format("{}={} is not written: {}", one.field, one.value, one.why);
}

std::string to_text(const EmitAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    Json json = document("emit", answer.provenance);
    json["dialect"] = describe::word_of<emit::Dialect>(emit::kDialectWords, answer.dialect);
    Json& files = json["files"] = Json::array();
    for (const emit::File& file : answer.files) {
      files.push_back({{"name", file.name}, {"text", file.text}, {"executable", file.executable}});
    }
    json["left_out"] = left_out_json(answer.left_out);
    json["written"] = answer.written;
    json["assumed"] = to_json(answer.assumed);
    return dumped(json);
  }
  std::string text;
  for (const std::string& path : answer.written) {
    text += path + "\n";
  }
  if (!answer.written.empty()) {
    return text;
  }
  for (const emit::File& file : answer.files) {
    text +=
        answer.files.size() == 1
            ? file.text
            : fmt::format("{}\n{}", bold(fmt::format("==> {} <==", file.name), style), file.text);
  }
  return text;
}

std::string to_text(const PatchAnswer& answer, const Style& style) {
  if (style.format != Format::kJson) {
    return answer.diff;
  }
  Json json = document("emit-patch", answer.provenance);
  json["diff"] = answer.diff;
  Json& by_hand = json["by_hand"] = Json::array();
  for (const emit::ByHand& one : answer.by_hand) {
    by_hand.push_back({{"key", one.key},
                       {"wanted", one.wanted},
                       {"why", one.why},
                       {"file", one.place.file},
                       {"line", one.place.line}});
  }
  json["left_out"] = left_out_json(answer.left_out);
  json["not_offered"] = answer.not_offered;
  return dumped(json);
}

}  // namespace sextant::explain
