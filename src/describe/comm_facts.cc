#include "describe/comm_facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "base/quantity_text.h"
#include "describe/toml_table.h"

namespace sextant::describe {
namespace {

constexpr std::string_view kLinks = "comm/links";
constexpr std::string_view kNetworks = "comm/networks";

Result<Sourced<double>> read_value(const TomlTable& table, const CommKey& key) {
  switch (key.unit) {
    case CommUnit::kTime: {
      SEXTANT_TRY(Sourced<Seconds> read, table.sourced(key.name, parse_seconds));
      return Sourced<double>{read.value.base(), read.kind, std::move(read.source)};
    }
    case CommUnit::kRate: {
      SEXTANT_TRY(Sourced<BytesPerSecond> read, table.sourced(key.name, parse_bytes_per_second));
      return Sourced<double>{read.value.base(), read.kind, std::move(read.source)};
    }
    case CommUnit::kRatio:
      break;
  }
  return table.sourced(key.name, parse_ratio);
}

// Every key of the list, and nothing beside those and `beside`.
Result<void> read_values(const TomlTable& file, std::span<const CommKey> keys,
                         std::span<Sourced<double>> values, std::vector<std::string_view> beside) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    SEXTANT_TRY(const TomlTable table, file.table(keys[i].table));
    SEXTANT_TRY(values[i], read_value(table, keys[i]));
    std::vector<std::string_view> names;
    for (const CommKey& key : keys) {
      if (key.table == keys[i].table) {
        names.push_back(key.name);
      }
    }
    SEXTANT_CHECK_OK(table.only(names));
    beside.push_back(keys[i].table);
  }
  return file.only(beside);
}

Result<TomlTable> open(std::string_view folder, std::string_view id, const DataStore& data) {
  const std::string path = fmt::format("{}/{}.toml", folder, id);
  SEXTANT_TRY(const std::string text, data.read(path));
  return TomlTable::parse(text, data.where(path));
}

bool holds(const std::vector<std::string>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

// How well a file fits a device: 2 it names the device, 1 its links and generation, 0 neither.
Result<int> suits(const TomlTable& file, const Device& device, ScaleUp scale_up) {
  SEXTANT_TRY(const std::vector<std::string> devices, file.texts("devices"));
  if (holds(devices, device.id)) {
    return 2;
  }
  SEXTANT_TRY(const std::vector<std::string> links, file.texts("scale_up"));
  SEXTANT_TRY(const std::vector<std::string> generations, file.texts("generations"));
  const bool same = holds(links, word_of<ScaleUp>(kScaleUpWords, scale_up)) &&
                    holds(generations, device.generation);
  return same ? 1 : 0;
}

Result<bool> in_range(const TomlTable& file, FabricFamily family, BytesPerSecond rate) {
  SEXTANT_TRY(const std::string word, file.text("family"));
  SEXTANT_TRY(const FabricFamily written,
              parse_word<FabricFamily>(kFabricFamilyWords, word, "family", file.where("family")));
  SEXTANT_TRY(const std::string from, file.text("from"));
  SEXTANT_TRY(const std::string below, file.text("below"));
  SEXTANT_TRY(const BytesPerSecond least, parse_bytes_per_second(from, file.where("from")));
  SEXTANT_TRY(const BytesPerSecond most, parse_bytes_per_second(below, file.where("below")));
  return written == family && rate >= least && rate < most;
}

std::string value_text(double value, CommUnit unit) {
  switch (unit) {
    case CommUnit::kTime:
      return fmt::format("{:.4g} us", value * 1e6);
    case CommUnit::kRate:
      return fmt::format("{:.4g} GB/s", value * 1e-9);
    case CommUnit::kRatio:
      break;
  }
  return fmt::format("{:.4g} ratio", value);
}

std::string values_text(std::span<const CommKey> keys, std::span<const Sourced<double>> values) {
  std::string text;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    text += fmt::format("\n[{}.{}]\nvalue = \"{}\"\nkind = \"{}\"\nsource = \"{}\"\n",
                        keys[i].table, keys[i].name, value_text(values[i].value, keys[i].unit),
                        word_of<SourceKind>(kSourceKindWords, values[i].kind), values[i].source);
  }
  return text;
}

}  // namespace

Result<LinkFacts> load_link_facts(std::string_view id, const DataStore& data) {
  SEXTANT_TRY(const TomlTable file, open(kLinks, id, data));
  LinkFacts facts;
  facts.id = std::string(id);
  SEXTANT_TRY(facts.name, file.text("name"));
  SEXTANT_TRY(facts.start, file.text("start"));
  SEXTANT_TRY(facts.rate, file.sourced("rate", parse_bytes_per_second));
  SEXTANT_TRY(facts.one_host, file.boolean("one_host"));
  SEXTANT_CHECK_OK(
      read_values(file, kLinkKeys, facts.values,
                  {"name", "start", "rate", "one_host", "devices", "scale_up", "generations"}));
  return facts;
}

Result<NetworkFacts> load_network_facts(std::string_view id, const DataStore& data) {
  SEXTANT_TRY(const TomlTable file, open(kNetworks, id, data));
  NetworkFacts facts;
  facts.id = std::string(id);
  SEXTANT_TRY(facts.name, file.text("name"));
  SEXTANT_TRY(facts.start, file.text("start"));
  SEXTANT_CHECK_OK(
      read_values(file, kNetworkKeys, facts.values, {"name", "start", "family", "from", "below"}));
  return facts;
}

Result<std::optional<LinkFacts>> link_facts(const Device& device, ScaleUp scale_up,
                                            const DataStore& data) {
  std::string best;
  int suited = 0;
  for (const std::string& id : data.list(kLinks, "toml")) {
    SEXTANT_TRY(const TomlTable file, open(kLinks, id, data));
    SEXTANT_TRY(const int suit, suits(file, device, scale_up));
    if (suit > suited) {
      suited = suit;
      best = id;
    }
  }
  if (suited == 0) {
    return std::optional<LinkFacts>();
  }
  SEXTANT_TRY(LinkFacts facts, load_link_facts(best, data));
  return std::optional<LinkFacts>(std::move(facts));
}

Result<std::optional<LinkFacts>> assumed_link_facts(const Device& device, ScaleUp scale_up,
                                                    const DataStore& data) {
  constexpr std::array<std::string_view, 3> kGenerations{"assumed-pcie3", "assumed-pcie4",
                                                         "assumed-pcie5"};
  std::optional<LinkFacts> nearest;
  if (scale_up == ScaleUp::kXgmiMesh) {
    SEXTANT_TRY(nearest, load_link_facts("assumed-xgmi2", data));
    return nearest;
  }
  if (!device.host_bandwidth) {
    return nearest;
  }
  const auto distance = [&](const LinkFacts& facts) {
    return std::abs(std::log(facts.rate.value / device.host_bandwidth->value));
  };
  for (const std::string_view id : kGenerations) {
    SEXTANT_TRY(LinkFacts facts, load_link_facts(id, data));
    if (!nearest || distance(facts) < distance(*nearest)) {
      nearest = std::move(facts);
    }
  }
  return nearest;
}

Result<std::optional<NetworkFacts>> network_facts(FabricFamily family, BytesPerSecond rate,
                                                  const DataStore& data) {
  for (const std::string& id : data.list(kNetworks, "toml")) {
    SEXTANT_TRY(const TomlTable file, open(kNetworks, id, data));
    SEXTANT_TRY(const bool suits, in_range(file, family, rate));
    if (suits) {
      SEXTANT_TRY(NetworkFacts facts, load_network_facts(id, data));
      return std::optional<NetworkFacts>(std::move(facts));
    }
  }
  return std::optional<NetworkFacts>();
}

std::string link_values_text(const LinkFacts& facts) {
  return values_text(kLinkKeys, facts.values);
}

std::string network_values_text(const NetworkFacts& facts) {
  return values_text(kNetworkKeys, facts.values);
}

}  // namespace sextant::describe
