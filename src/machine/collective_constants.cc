// Which constants an estimated collective goes by.
#include <span>

#include <fmt/format.h>

#include "machine/collective_estimate.h"

namespace sextant::machine {
namespace {

using describe::CommUnit;

constexpr std::string_view kTorusFile = "comm/torus.toml";
constexpr std::string_view kCommSpreadFile = "comm/spread.toml";

std::string links_file(const CollectiveEstimate& estimate) {
  return estimate.links == "torus" ? std::string(kTorusFile)
                                   : fmt::format("comm/links/{}.toml", estimate.links);
}

void add_values(const std::string& file, std::span<const describe::CommKey> keys,
                std::span<const describe::Sourced<double>> values,
                std::vector<CollectiveConstant>& constants) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    constants.push_back(
        {file, fmt::format("{}.{}", keys[i].table, keys[i].name), keys[i].unit, values[i]});
  }
}

Result<void> add_torus(const describe::DataStore& data,
                       std::vector<CollectiveConstant>& constants) {
  SEXTANT_TRY(const describe::TorusFacts facts, describe::torus_facts(data));
  const std::string file(kTorusFile);
  constants.push_back({file, "share", CommUnit::kRatio, facts.share});
  constants.push_back(
      {file, "hop", CommUnit::kTime, {facts.hop.value.base(), facts.hop.kind, facts.hop.source}});
  return {};
}

Result<void> add_links(const std::string& id, const std::string& file,
                       const describe::DataStore& data,
                       std::vector<CollectiveConstant>& constants) {
  SEXTANT_TRY(const describe::LinkFacts facts, describe::load_link_facts(id, data));
  constants.push_back({file,
                       "rate",
                       CommUnit::kRate,
                       {facts.rate.value.base(), facts.rate.kind, facts.rate.source}});
  add_values(file, describe::kLinkKeys, facts.values, constants);
  return {};
}

}  // namespace

std::vector<std::string> constant_files(const CollectiveEstimate& estimate) {
  std::vector<std::string> files;
  if (!estimate.links.empty()) {
    files.push_back(links_file(estimate));
  }
  if (!estimate.network.empty()) {
    files.push_back(fmt::format("comm/networks/{}.toml", estimate.network));
  }
  if (estimate.spread) {
    files.emplace_back(kCommSpreadFile);
  }
  return files;
}

Result<std::vector<CollectiveConstant>> collective_constants(const CollectiveEstimate& estimate,
                                                             const describe::DataStore& data) {
  std::vector<CollectiveConstant> constants;
  if (estimate.links == "torus") {
    SEXTANT_CHECK_OK(add_torus(data, constants));
  } else if (!estimate.links.empty()) {
    SEXTANT_CHECK_OK(add_links(estimate.links, links_file(estimate), data, constants));
  }
  if (!estimate.network.empty()) {
    SEXTANT_TRY(const describe::NetworkFacts facts,
                describe::load_network_facts(estimate.network, data));
    add_values(fmt::format("comm/networks/{}.toml", estimate.network), describe::kNetworkKeys,
               facts.values, constants);
  }
  return constants;
}

}  // namespace sextant::machine
