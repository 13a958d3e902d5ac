#include "explain/comm_json.h"

#include <vector>

#include "explain/comm_limits.h"

namespace sextant::explain {
namespace {

using measured::CommCounts;
using measured::ErrorScore;
using measured::NamedScore;
using measured::SizedScore;

void add_counts_json(const CommCounts& counts, Json& json) {
  json["n"] = counts.rows;
  json["scored"] = counts.scored;
  json["refused"] = counts.refused;
  json["unhealthy"] = counts.unhealthy;
  json["untrusted"] = counts.untrusted;
  json["refusals"] = Json::array();
  for (const auto& [reason, rows] : counts.reasons) {
    json["refusals"].push_back({{"reason", reason}, {"n", rows}});
  }
}

void add_score_json(const ErrorScore& score, Json& json) {
  json["n"] = score.rows;
  json["refused"] = score.refused_rows;
  json["systems"] = score.systems;
  json["systems_refused"] = score.refused_systems;
  json["mape"] = or_null(score.mean);
  json["macro_mape"] = or_null(score.macro);
  json["bias"] = or_null(score.bias);
}

Json named(const std::string& name, const ErrorScore& score) {
  Json json;
  json["name"] = name;
  add_score_json(score, json);
  return json;
}

Json sizes(const SizedScore& line) {
  Json json = Json::array();
  for (std::size_t i = 0; i < measured::kSizeBuckets; ++i) {
    json.push_back(named(std::string(measured::kSizeBucketWords[i].second), line.by_size[i]));
  }
  return json;
}

// Sizes with what must hold, then all of them.
Json total_sizes(const SizedScore& total) {
  Json json = sizes(total);
  for (std::size_t i = 0; i < measured::kSizeBuckets; ++i) {
    json[i]["macro_limit"] = or_null(kSizeLimits[i]);
  }
  Json all = named("all sizes", total.all);
  all["macro_limit"] = kAllSizesLimit;
  json.push_back(std::move(all));
  return json;
}

Json sized_lines(const std::vector<SizedScore>& lines) {
  Json json = Json::array();
  for (const SizedScore& line : lines) {
    Json one = named(line.name, line.all);
    one["sizes"] = sizes(line);
    json.push_back(std::move(one));
  }
  return json;
}

Json named_lines(const std::vector<NamedScore>& lines) {
  Json json = Json::array();
  for (const NamedScore& line : lines) {
    json.push_back(named(line.name, line.score));
  }
  return json;
}

// A system is its own average: no count of systems, no macro-average.
Json system_lines(const std::vector<NamedScore>& lines) {
  Json json = Json::array();
  for (const NamedScore& line : lines) {
    Json one;
    one["name"] = line.name;
    one["n"] = line.score.rows;
    one["refused"] = line.score.refused_rows;
    one["mape"] = or_null(line.score.mean);
    one["bias"] = or_null(line.score.bias);
    json.push_back(std::move(one));
  }
  return json;
}

Json collectives_json(const measured::CollectiveScores& scores) {
  Json json;
  add_counts_json(scores.counts, json);
  json["sizes"] = total_sizes(scores.total);
  json["classes"] = sized_lines(scores.classes);
  json["operations"] = sized_lines(scores.operations);
  json["systems"] = system_lines(scores.systems);
  return json;
}

Json experts_json(const measured::ExpertScores& scores) {
  Json json;
  add_counts_json(scores.counts, json);
  json["all"] = named("all", scores.total);
  json["all"]["macro_limit"] = kExpertLimit;
  json["libraries"] = named_lines(scores.libraries);
  json["modes"] = named_lines(scores.modes);
  json["nodes"] = named_lines(scores.nodes);
  json["systems"] = system_lines(scores.systems);
  return json;
}

}  // namespace

Json comm_json(const measured::CommScores& scores) {
  Json json;
  json["collectives"] = scores.collectives ? collectives_json(*scores.collectives) : Json(nullptr);
  json["expert_all_to_all"] = scores.experts ? experts_json(*scores.experts) : Json(nullptr);
  return json;
}

}  // namespace sextant::explain
