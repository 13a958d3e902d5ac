#include "explain/cluster_view.h"

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "base/text.h"
#include "explain/json.h"
#include "explain/text_table.h"

namespace sextant::explain {
namespace {

using describe::Cluster;
using describe::Device;
using describe::Sourced;
using describe::System;

// One number of the cluster: for people, and for the JSON key that carries its unit.
struct Fact {
  std::string group;  // device, system, fabric
  std::string name;
  std::string text;
  std::string key;  // JSON: value with unit in the name
  double number = 0.0;
  describe::SourceKind kind{};
  std::string source;
};

template <typename Q>
void add(std::vector<Fact>& facts, const char* group, std::string name,
         const std::optional<Sourced<Q>>& value, const char* unit_key, Q unit) {
  if (value) {
    facts.push_back({group, std::move(name), to_text(value->value), unit_key, value->value / unit,
                     value->kind, value->source});
  }
}

void add_count(std::vector<Fact>& facts, const char* group, const char* name,
               const std::optional<Sourced<std::int64_t>>& value) {
  if (value) {
    facts.push_back({group, name, std::to_string(value->value), "value",
                     static_cast<double>(value->value), value->kind, value->source});
  }
}

void add_device(std::vector<Fact>& facts, const Device& device) {
  for (const auto& [dtype, name] : describe::kDTypeWords) {
    add<FlopsPerSecond>(facts, "device", fmt::format("peak {}", name), device.peak(dtype),
                        "value_TFLOPps", 1_TFLOPps);
  }
  add<Bytes>(facts, "device", "memory", std::optional(device.memory_capacity), "value_bytes", 1_B);
  facts.back().text = fmt::format("{:.4g} GB", device.memory_capacity.value / 1_GB);  // as sold
  add<Bytes>(facts, "device", "memory usable", device.memory_usable, "value_bytes", 1_B);
  add<BytesPerSecond>(facts, "device", "memory bandwidth", std::optional(device.memory_bandwidth),
                      "value_GBps", 1_GBps);
  add<BytesPerSecond>(facts, "device", "scale-up bandwidth (a direction)",
                      device.scale_up_bandwidth, "value_GBps", 1_GBps);
  add_count(facts, "device", "ICI links", device.ici_links);
  add<BytesPerSecond>(facts, "device", "ICI bandwidth a link (a direction)",
                      device.ici_link_bandwidth, "value_GBps", 1_GBps);
  add<BytesPerSecond>(facts, "device", "host bandwidth (a direction)", device.host_bandwidth,
                      "value_GBps", 1_GBps);
  add_count(facts, "device", "compute units", device.compute_units);
  add<Hertz>(facts, "device", "boost clock", device.boost_clock, "value_MHz", 1_MHz);
  add<Bytes>(facts, "device", "L2 cache", device.l2_cache, "value_bytes", 1_B);
  add<Watts>(facts, "device", "power limit", std::optional(device.power_limit), "value_W", 1_W);
}

std::vector<Fact> cluster_facts(const Cluster& cluster) {
  std::vector<Fact> facts;
  add_device(facts, cluster.device);
  const System& system = cluster.system;
  add_count(facts, "system", "devices a node", std::optional(system.devices_per_node));
  add_count(facts, "system", "devices a scale-up domain", std::optional(system.domain_size));
  add_count(facts, "system", "NICs a node", system.nics_per_node);
  add<BytesPerSecond>(facts, "system", "NIC rate (a direction)", system.nic_rate, "value_Gbitps",
                      1_Gbitps);
  add<Seconds>(facts, "fabric", "latency", cluster.fabric.latency, "value_us", 1_us);
  if (cluster.price) {
    facts.push_back({"cluster", "price a device",
                     fmt::format("{:.2f} USD/h", (cluster.price->value * 1_hours).base()),
                     "value_USD_per_hour", (cluster.price->value * 1_hours).base(),
                     cluster.price->kind, cluster.price->source});
  }
  return facts;
}

std::string_view source_kind_word(describe::SourceKind kind) {
  return describe::word_of<describe::SourceKind>(describe::kSourceKindWords, kind);
}

std::string cluster_json_text(const ClusterAnswer& answer) {
  const Cluster& cluster = answer.cluster;
  Json json = document("cluster", answer.provenance);
  json["name"] = cluster.name;
  json["devices"] = cluster.devices;
  json["nodes"] = cluster.nodes();
  json["scale_up_domains"] = cluster.domains();
  json["device"] = {{"id", cluster.device.id},
                    {"name", cluster.device.name},
                    {"generation", cluster.device.generation}};
  json["system"] = {{"id", cluster.system.id},
                    {"name", cluster.system.name},
                    {"scale_up", describe::word_of<describe::ScaleUp>(describe::kScaleUpWords,
                                                                      cluster.system.scale_up)}};
  json["fabric"] = {{"id", cluster.fabric.id}, {"name", cluster.fabric.name}};
  const auto network = cluster.network_per_device();
  json["network_per_device_Gbitps"] = network ? Json(*network / 1_Gbitps) : Json(nullptr);
  json["torus"] = cluster.torus;
  json["slices"] = cluster.slices;
  json["links"] = Json::array();
  json["values"] = Json::array();
  for (const Fact& fact : cluster_facts(cluster)) {
    Json row;
    row["of"] = fact.group;
    row["name"] = fact.name;
    row[fact.key] = fact.number;
    row["kind"] = source_kind_word(fact.kind);
    row["source"] = fact.source;
    const bool link = fact.name.find("a direction") != std::string::npos;
    json[link ? "links" : "values"].push_back(std::move(row));
  }
  json["assumed"] = to_json(cluster.assumed);
  return dumped(json);
}

std::string cluster_summary(const Cluster& cluster, const Style& style) {
  std::string text = fmt::format("{}: {} x {}\n", bold(cluster.name, style),
                                 with_thousands(cluster.devices), cluster.device.name);
  text +=
      fmt::format("{} nodes of {} ({}), {} scale-up domain{} of up to {}, {} between them",
                  with_thousands(cluster.nodes()), cluster.devices_per_node(), cluster.system.name,
                  with_thousands(cluster.domains()), cluster.domains() == 1 ? "" : "s",
                  cluster.system.domain_size.value, cluster.fabric.name);
  if (const auto network = cluster.network_per_device()) {
    text += fmt::format(", {:.0f} Gbit/s a device", *network / 1_Gbitps);
  }
  return text + "\n\n";
}

}  // namespace

std::string to_text(const ClusterAnswer& answer, const Style& style) {
  if (style.format == Format::kJson) {
    return cluster_json_text(answer);
  }
  const Cluster& cluster = answer.cluster;
  Table table{{{"of"}, {"what"}, {"value", true}, {"kind"}, {"source"}}, {}};
  for (const Fact& fact : cluster_facts(cluster)) {
    table.rows.push_back(
        {fact.group, fact.name, fact.text, std::string(source_kind_word(fact.kind)),
         style.format == Format::kTable ? printable(fact.source, 90) : fact.source});
  }
  if (style.format == Format::kCsv) {
    return to_text(table, style);
  }
  std::string text = cluster_summary(cluster, style) + to_text(table, style);
  if (!cluster.assumed.empty()) {
    text += "\n";
  }
  for (const describe::Assumption& line : cluster.assumed) {
    text += fmt::format("assumed: {}\n", describe::to_text(line));
  }
  return text;
}

}  // namespace sextant::explain
