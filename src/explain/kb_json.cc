#include "explain/kb_json.h"

#include <span>

namespace sextant::explain {
namespace {

Json stated_text(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json stated_count(std::int64_t count) {
  return count == 0 ? Json(nullptr) : Json(count);
}

template <typename E>
Json words_json(std::span<const describe::Word<E>> words, const std::vector<E>& values) {
  Json list = Json::array();
  for (const E value : values) {
    list.push_back(describe::word_of<E>(words, value));
  }
  return list;
}

Json features_json(const kb::Features& about) {
  Json mesh = Json::object();
  for (const auto& [axis, size] : about.mesh) {
    mesh[axis] = size;
  }
  return {
      {"bottlenecks", words_json<kb::Bottleneck>(kb::kBottleneckWords, about.bottlenecks)},
      {"axes", words_json<kb::Theme>(kb::kThemeWords, about.axes)},
      {"changes", about.changes},
      {"devices", about.devices},
      {"topology", about.topology},
      {"frameworks", words_json<describe::Framework>(describe::kFrameworkWords, about.frameworks)},
      {"models", words_json<kb::ModelClass>(kb::kModelClassWords, about.models)},
      {"model", stated_text(about.model)},
      {"parameters_billion",
       about.parameters_billion == 0.0 ? Json(nullptr) : Json(about.parameters_billion)},
      {"device_count", stated_count(about.device_count)},
      {"mesh", std::move(mesh)}};
}

Json measured_json(const kb::Entry& entry) {
  const kb::Measurement& measured = entry.measured;
  if (measured.metric.empty()) {
    return nullptr;
  }
  return {{"metric", measured.metric},
          {"value_before", or_null(measured.before)},
          {"value_after", or_null(measured.after)},
          {"effect_percent", or_null(measured.effect_percent)},
          {"fate", measured.fate == kb::Fate::kNumber
                       ? Json(nullptr)
                       : Json(describe::word_of<kb::Fate>(kb::kFateWords, measured.fate))}};
}

}  // namespace

Json entry_json(const kb::Entry& entry) {
  Json json;
  json["id"] = entry.id;
  json["kind"] = describe::word_of<kb::EntryKind>(kb::kEntryKindWords, entry.kind);
  json["origin"] = describe::word_of<kb::Origin>(kb::kOriginWords, entry.origin);
  json["title"] = entry.title;
  json["advice"] = stated_text(entry.advice);
  json["why"] = stated_text(entry.why);
  json["do_not"] = entry.do_not;
  json["source"] = entry.source;
  json["url"] = stated_text(entry.url);
  json["section"] = stated_text(entry.section);
  json["date"] = stated_text(entry.date);
  json["trust"] = entry.trust == kb::Trust::kUnknown
                      ? Json(nullptr)
                      : Json(describe::word_of<kb::Trust>(kb::kTrustWords, entry.trust));
  json["about"] = features_json(entry.about);
  json["software"] = stated_text(entry.software);
  json["network"] = stated_text(entry.network);
  json["shape"] = stated_text(entry.shape);
  json["sequence"] = stated_count(entry.sequence);
  json["global_batch"] = stated_count(entry.global_batch);
  json["layout"] = stated_text(entry.layout);
  json["before"] = stated_text(entry.before);
  json["after"] = stated_text(entry.after);
  json["setting"] = stated_text(entry.setting);
  json["expects"] = stated_text(entry.expects);
  json["measured"] = measured_json(entry);
  json["conditions"] = stated_text(entry.conditions);
  json["added_by"] = stated_text(entry.added_by);
  json["added_at"] = stated_text(entry.added_at);
  return json;
}

}  // namespace sextant::explain
