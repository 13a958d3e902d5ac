#include "explain/collective_json.h"

#include <utility>

namespace sextant::explain {
namespace {

Json rate_json(const std::optional<BytesPerSecond>& rate) {
  return rate ? Json(*rate / 1_GBps) : Json(nullptr);
}

Json way_json(const machine::CollectiveWay& way) {
  Json json;
  json["algorithm"] = way.algorithm;
  json["protocol"] = way.protocol.empty() ? Json(nullptr) : Json(way.protocol);
  json["limit"] = way.limit;
  json["limit_GBps"] = way.limit_rate / 1_GBps;
  json["time_s"] = way.total().base();
  json["latency_s"] = way.latency.base();
  json["transfer_s"] = way.transfer.base();
  json["fill_s"] = way.fill.base();
  return json;
}

Json hierarchical_json(const cost::HierarchicalTerms& terms) {
  return {{"time_s", terms.total().base()},
          {"reduce_scatter_s", terms.scatter.base()},
          {"all_reduce_between_domains_s", terms.across.base()},
          {"all_gather_s", terms.gather.base()}};
}

void put_range(const machine::CollectiveEstimate& estimate, Json& json) {
  const auto times = time_range(estimate);
  const auto rates = bus_range(estimate);
  json["time_low_s"] = times ? Json(times->first.base()) : Json(nullptr);
  json["time_high_s"] = times ? Json(times->second.base()) : Json(nullptr);
  json["bus_bandwidth_GBps"] = rate_json(estimate.bus);
  json["bus_bandwidth_low_GBps"] = rates ? rate_json(rates->first) : Json(nullptr);
  json["bus_bandwidth_high_GBps"] = rates ? rate_json(rates->second) : Json(nullptr);
}

}  // namespace

Json collective_json(const machine::CollectiveEstimate& estimate) {
  Json json;
  json["collective"] = collective_word(estimate.op);
  json["bytes"] = estimate.bytes.base();
  json["ranks"] = estimate.group.ranks;
  json["stride"] = estimate.stride;
  json["domains"] = estimate.group.domains;
  json["ranks_per_domain"] = estimate.group.per_domain;
  json["time_s"] = estimate.time.base();
  put_range(estimate, json);
  json["algorithm_bandwidth_GBps"] = rate_json(estimate.algorithm);
  json["best_rate_GBps"] = rate_json(estimate.best_rate);
  json["spread"] = or_null(estimate.spread);
  json["links"] = estimate.links.empty() ? Json(nullptr) : Json(estimate.links);
  json["network"] = estimate.network.empty() ? Json(nullptr) : Json(estimate.network);
  json["hierarchical"] =
      estimate.hierarchical ? hierarchical_json(*estimate.hierarchical) : Json(nullptr);
  Json& ways = json["ways"] = Json::array();
  for (const machine::CollectiveWay& way : estimate.ways) {
    ways.push_back(way_json(way));
  }
  return json;
}

}  // namespace sextant::explain
