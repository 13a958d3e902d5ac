#include "explain/capture_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "explain/json.h"

namespace sextant::explain {
namespace {

constexpr std::size_t kShownWords = 160;

Json call_json(const emit::CapturedCall& call) {
  Json json;
  json["words"] = call.words;
  if (!call.open.empty()) {
    json["open"] = call.open;
  }
  json["folder"] = call.folder;
  json["environment"] = Json::object();
  for (const auto& [name, value] : call.environment) {
    json["environment"][name] = value;
  }
  if (call.outer) {
    json["outer"] = *call.outer;
  }
  if (call.launches) {
    json["launches"] = true;
  }
  return json;
}

Json record_json(const emit::CaptureRecord& record) {
  Json json;
  json["schema"] = emit::kCaptureSchema;
  json["command"] = record.command;
  json["folder"] = record.folder;
  json["cluster"] = record.cluster;
  json["batch"] = record.batch;
  json["calls"] = Json::array();
  for (const emit::CapturedCall& call : record.calls) {
    json["calls"].push_back(call_json(call));
  }
  json["files"] = Json::array();
  for (const emit::CapturedFile& file : record.files) {
    json["files"].push_back({{"path", file.path}, {"text", file.text}});
  }
  json["notes"] = record.notes;
  return json;
}

std::string shown(const std::vector<std::string>& words) {
  return printable(join(words, " "), kShownWords);
}

}  // namespace

std::string capture_file_text(const emit::CaptureRecord& record) {
  return dumped(record_json(record));
}

std::string to_text(const CaptureAnswer& answer, const Style& style) {
  const emit::CaptureRecord& record = answer.record;
  if (style.format == Format::kJson) {
    Json json = document("capture", answer.provenance);
    json["file"] = answer.file;
    json["script_exit_code"] = answer.script_ended_with;
    json["record"] = record_json(record);
    json["output"] = answer.output;
    return dumped(json);
  }
  std::string text = fmt::format("captured  {}\n", shown(record.command));
  for (const emit::CapturedCall& call : record.calls) {
    text += fmt::format("  {}{}\n", call.outer ? "  " : "", shown(call.words));
  }
  for (const emit::CapturedFile& file : record.files) {
    text += fmt::format("  file {}, {} bytes\n", printable(file.path), file.text.size());
  }
  for (const std::string& note : record.notes) {
    text += fmt::format("  note: {}\n", printable(note, kShownWords));
  }
  if (record.calls.empty()) {
    text +=
        fmt::format("nothing was started (the script ended with {}); the last it printed:\n{}\n",
                    answer.script_ended_with, printable(answer.output, 1'000));
  }
  return text;
}

}  // namespace sextant::explain
